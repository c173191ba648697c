import { parseTimestamp } from '../../lib/memory/timestamp.ts';

/**
 * The moment of a query parameter: digits alone are epoch milliseconds (with a minus, before 1970), all else ISO 8601. A
 * date, not a number: the library would take that of 1972 for epoch seconds.
 *
 * @throws InvalidInputError naming the parameter
 */
export function momentOf(text: string, parameter: string): Date {
  return new Date(parseTimestamp(/^-?\d+$/.test(text) ? Number(text) : text, parameter));
}
