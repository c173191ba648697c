import { InvalidInputError } from '../errors.ts';

/** A moment as callers may give it: ISO 8601 with an offset or `Z`, epoch milliseconds, or a `Date`. */
export type Timestamp = string | number | Date;

const iso = /^(\d{4})-(\d{2})-(\d{2})T(\d{2}):(\d{2})(:\d{2}(\.\d{1,9})?)?(Z|[+-]\d{2}:\d{2})$/;
const earliest = Date.parse('0001-01-01T00:00:00Z');
const latest = Date.parse('9999-12-31T23:59:59.999Z');

/** Milliseconds of 1970 to 1973, and seconds of 1973 to 5138: the former nobody sends, the latter many do. */
const looksLikeSeconds = { from: 1e8, to: 1e11 };

/**
 * Epoch milliseconds. Digits after the third one of a second are dropped.
 *
 * @throws InvalidInputError naming the field: a time without an offset, a day that does not exist, other text, NaN, a
 * number that looks like epoch seconds
 */
export function parseTimestamp(value: unknown, field: string): number {
  if (typeof value === 'number' && value >= looksLikeSeconds.from && value < looksLikeSeconds.to)
    throw new InvalidInputError(field, `${value} looks like epoch seconds; it must be epoch milliseconds`);
  const time = timeOf(value);
  if (!Number.isSafeInteger(time) || time < earliest || time > latest) {
    const problem =
      'must be ISO 8601 with an offset or Z, or whole epoch milliseconds, of the years 1 to 9999';
    throw new InvalidInputError(field, problem);
  }
  return time;
}

/** NaN for what is none. */
function timeOf(value: unknown): number {
  if (typeof value === 'number') return value;
  if (value instanceof Date) return value.getTime();
  if (typeof value !== 'string') return Number.NaN;
  const parts = iso.exec(value)?.map(Number);
  if (parts === undefined) return Number.NaN;
  const [, year = Number.NaN, month = Number.NaN, day] = parts;
  // Date.parse takes the 30th of February for the 1st or 2nd of March. Years below 100 stand for 1900 and so many here,
  // whose months are as long.
  if (new Date(Date.UTC(year, month - 1, day)).getUTCDate() !== day) return Number.NaN;
  return Date.parse(value);
}
