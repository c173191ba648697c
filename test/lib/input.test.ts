import { expect, test } from 'vitest';
import { nearestName } from '../../lib/input.ts';

const known = ['limit', 'cursor', 'prefix', 'ttl', 'ok'];

test.each([
  ['tttl', 'ttl'],
  ['tl', 'ttl'],
  ['TTL', 'ttl'],
  ['limt', 'limit'],
  ['curser', 'cursor'],
  ['perfix', 'prefix'],
  ['OK', 'ok'],
])('%s most likely means %s', (given, meant) => {
  expect(nearestName(given, known)).toBe(meant);
});

test.each(['', 'page', 'x', 'offset', 'filter', 'limit'.repeat(20)])('%j is near to none', (given) => {
  expect(nearestName(given, known)).toBeUndefined();
});
