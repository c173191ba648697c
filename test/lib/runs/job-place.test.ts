import { expect, test } from 'vitest';
import { sessionShards } from '../../../lib/defaults.ts';
import { formatJobPlace, parseJobPlace } from '../../../lib/runs/job-place.ts';

test.each([
  { shard: 0, page: 0, index: 0 },
  { shard: sessionShards - 1, page: 123_456_789, index: 99 },
])('a place comes back as it was', (place) => {
  expect(parseJobPlace(formatJobPlace(place))).toEqual(place);
});

test.each([
  '',
  'x',
  '1/2',
  '1/2/3/4',
  'x1/2/3',
  '1/2/3x',
  '1//3',
  '1/2/',
  '/2/3',
  '-1/2/3',
  `${sessionShards}/0/0`,
])('the text %j is no place', (text) => {
  expect(() => parseJobPlace(text)).toThrow(expect.objectContaining({ field: 'after' }));
});
