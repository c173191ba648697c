import { expect, test } from 'vitest';
import { parseHttpDate } from '../../functions/http/instances/http-date.ts';

const now = new Date('2026-06-01T00:00:00Z');

test.each([
  ['Sun, 06 Nov 1994 08:49:37 GMT', '1994-11-06T08:49:37Z'],
  ['Sunday, 06-Nov-94 08:49:37 GMT', '1994-11-06T08:49:37Z'],
  ['Sun Nov  6 08:49:37 1994', '1994-11-06T08:49:37Z'],
  ['Sun Nov 16 08:49:37 1994', '1994-11-16T08:49:37Z'],
  ['  Thu, 29 Feb 2024 23:59:59 GMT ', '2024-02-29T23:59:59Z'],
  ['Sat, 31 Dec 2016 23:59:60 GMT', '2017-01-01T00:00:00Z'],
  ['Wed, 01 Jan 0050 00:00:00 GMT', '0050-01-01T00:00:00Z'],
  ['Wednesday, 01-Jan-76 00:00:00 GMT', '2076-01-01T00:00:00Z'],
  ['Saturday, 01-Jan-77 00:00:00 GMT', '1977-01-01T00:00:00Z'],
])('%s is %s', (text, iso) => {
  expect(parseHttpDate(text, now)).toBe(Date.parse(iso) / 1000);
});

test.each([
  '',
  '0',
  'yesterday',
  '1994-11-06T08:49:37Z',
  'Sun, 6 Nov 1994 08:49:37 GMT',
  'Sun, 06 Nov 1994 08:49:37 UTC',
  'Sun, 06 Nov 1994 08:49:37 +0000',
  'Sun, 06 Nov 1994 24:00:00 GMT',
  'Sun, 06 Nov 1994 08:60:00 GMT',
  'Fri, 30 Feb 2024 00:00:00 GMT',
  'sun, 06 nov 1994 08:49:37 gmt',
  'Sun, 06 Nov 1994 08:49:37 GMT, Sun, 06 Nov 1994 08:49:37 GMT',
])('%s is no HTTP-date', (text) => {
  expect(parseHttpDate(text, now)).toBeUndefined();
});
