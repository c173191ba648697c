import fc from 'fast-check';
import { expect, test } from 'vitest';
import { pageCollector } from '../../../lib/persistence/page-of.ts';
import type { SnapshotInfo } from '../../../lib/persistence/snapshot-store.ts';

const info: SnapshotInfo = {
  ...{ etag: 'e', version: 1, format: 'json', contentType: 'application/json', encoding: 'identity' },
  ...{ bytes: 1, storedBytes: 1, updatedAt: new Date(0), expiresAt: undefined },
};

test('a page holds the first keys of its scope, prefix and place, in whatever order they come', () => {
  const keys = fc.uniqueArray(
    fc.string({ unit: fc.constantFrom('a', 'b', 'c', '/'), minLength: 1, maxLength: 5 }),
    {
      maxLength: 60,
    },
  );
  const query = fc.record({
    limit: fc.integer({ min: 1, max: 5 }),
    prefix: fc.constantFrom(undefined, 'a', 'ab'),
    after: fc.constantFrom(undefined, 'ab', 'b'),
  });

  const property = fc.property(keys, query, (added, { limit, prefix = '', after }) => {
    const found = pageCollector({ scope: 'support', limit, prefix, after });
    for (const key of added) found.add(`support/${key}`, info);
    found.add(`support-2/${prefix}z`, info);

    const all = added
      .filter((key) => key.startsWith(prefix) && (after === undefined || key > after))
      .toSorted((a, b) => (a < b ? -1 : 1));
    const { items, next } = found.page();
    expect(items.map(({ key }) => key)).toEqual(all.slice(0, limit));
    expect(next).toBe(all.length > limit ? all[limit - 1] : undefined);
  });
  fc.assert(property);
});

test('a page tells what there is to know of a snapshot, and holds no data', () => {
  const found = pageCollector({ scope: 'support', limit: 1 });
  found.add('support/user-1', { ...info, dump: { data: Buffer.alloc(9) } } as SnapshotInfo);

  expect(found.page().items).toEqual([{ ...info, key: 'user-1' }]);
  expect(found.page().items[0]).not.toHaveProperty('dump');
});
