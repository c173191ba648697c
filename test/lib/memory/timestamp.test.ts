import { expect, test } from 'vitest';
import { parseTimestamp } from '../../../lib/memory/timestamp.ts';

const earliest = Date.parse('0001-01-01T00:00:00Z');
const latest = Date.parse('9999-12-31T23:59:59.999Z');

test.each<[unknown, number]>([
  [earliest, earliest],
  [latest, latest],
  [1e8 - 1, 1e8 - 1],
  [1e11, 1e11],
  [new Date(7), 7],
  [new Date(1e8), 1e8],
  ['1970-01-01T00:00Z', 0],
  ['1970-01-01T00:00:00.123999999Z', 123],
  ['1970-01-01T00:00:00-00:30', 1_800_000],
  ['2000-02-29T00:00:00Z', Date.UTC(2000, 1, 29)],
  ['2004-02-29T00:00:00Z', Date.UTC(2004, 1, 29)],
  ['1904-02-29T00:00:00Z', Date.UTC(1904, 1, 29)],
  ['0004-02-29T00:00:00Z', Date.parse('0004-02-29T00:00:00Z')],
  ['0400-02-29T00:00:00Z', Date.parse('0400-02-29T00:00:00Z')],
])('%o is a moment', (given, time) => {
  expect(parseTimestamp(given, 'at')).toBe(time);
});

const none: readonly unknown[] = [
  ...[earliest - 1, latest + 1, 0.5, Number.NaN, Number.POSITIVE_INFINITY, 1e8, 1e11 - 1, 10n],
  ...[undefined, null, true, {}, ['1970-01-01T00:00Z'], new Date(Number.NaN)],
  ...['', '1970-01-01', '1970-01-01T00:00:00', 'x1970-01-01T00:00Z', '1970-01-01T00:00Zx'],
  ...['1970-13-01T00:00Z', '1970-01-32T00:00Z', '1970-01-01T25:00Z', '0000-12-31T23:59Z'],
  ...['0001-02-29T00:00:00Z', '0099-02-29T00:00:00Z', '0100-02-29T00:00:00Z', '0000-02-29T00:00:00Z'],
  ...['2023-02-29T00:00:00Z', '1900-02-29T00:00:00Z', '2023-04-31T00:00:00Z'],
];

test.each(none.map((given) => ({ given })))('$given is none', ({ given }) => {
  expect(() => parseTimestamp(given, 'at')).toThrow(
    expect.objectContaining({ code: 'invalid_input', field: 'at' }),
  );
});
