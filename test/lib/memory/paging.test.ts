import { expect, test } from 'vitest';
import { recentMaxPageSize, recentPageSize } from '../../../lib/defaults.ts';
import { checkRecent } from '../../../lib/memory/paging.ts';
import { memoryUnderTest } from '../../support/memory-under-test.ts';

test.each([
  ['hours', { hours: '5' }],
  ['hours', { hours: Number.NaN }],
  ['after', { after: 7 }],
  ['after', { after: ['100000000000000.000000000000001'] }],
  ['limit', { limit: '5' }],
  ['limit', { limit: recentMaxPageSize + 1 }],
])('a %s of another type or size is refused by name: %o', async (field, query) => {
  const { memory } = memoryUnderTest();

  await expect(memory.recent(query as never)).rejects.toMatchObject({ code: 'invalid_input', field });
});

test('a query has the bounds that it was given', () => {
  const [now, paging] = [new Date(7_200_000), { limit: recentPageSize, order: 'asc' }];

  expect(checkRecent({}, now)).toEqual(paging);
  expect(checkRecent({ hours: 1.5 }, now)).toEqual({ ...paging, from: 1_800_000 });
  expect(checkRecent({ since: 1, until: new Date(2) }, now)).toEqual({ ...paging, from: 1, to: 2 });
});
