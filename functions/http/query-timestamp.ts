import { parseTimestamp } from '../../lib/memory/timestamp.ts';

/**
 * Epoch milliseconds of a query parameter: digits alone are that already (with a minus, before 1970), all else ISO 8601.
 *
 * @throws InvalidInputError naming the parameter
 */
export function momentOf(text: string, parameter: string): number {
  return parseTimestamp(/^-?\d+$/.test(text) ? Number(text) : text, parameter);
}
