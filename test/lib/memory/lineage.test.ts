import { expect, test } from 'vitest';
import type { NewCapsule } from '../../../lib/memory/agent-memory.ts';
import { readChain } from '../../../lib/memory/lineage.ts';
import type { MemoryStore } from '../../../lib/memory/memory-store.ts';
import { memoryUnderTest } from '../../support/memory-under-test.ts';

type Given = { readonly id: string; readonly sources?: readonly string[]; readonly on?: string };

const underTest = (changed?: (store: MemoryStore) => Partial<MemoryStore>) => {
  const under = memoryUnderTest(changed);
  const { memory, store } = under;
  const lineage = { kind: 'lineage', ...memory.scope } as const;
  const time = '2027-01-01T00:00:00.000Z';
  const capsule = ({ id, sources = [], on }: Given): NewCapsule & { id: string } => ({
    ...{ id, summary: id, from: time, to: time, messageCount: 1, messageIds: [`of ${id}`] },
    ...{ sourceIds: sources, previousId: on ?? null },
  });
  return {
    ...under,
    stored: store,
    store: async (given: Given) => memory.storeCapsule(capsule(given)),
    /** Of what was read before something was forgotten. */
    stale: async (given: Given) => {
      const since = await store.moment(memory.scope);
      await store.beginForget(memory.scope);
      return memory.storeCapsule(capsule(given), { since });
    },
    /** As age does it with those that are so old. */
    prune: (secs: number) => store.prune(memory.scope, 'capsule', under.clock.now().getTime() - secs * 1000),
    ids: async () => (await memory.listCapsules()).items.map(({ id }) => id),
    kept: async () => (await store.listValues(lineage, { limit: 50 })).items.map(({ key }) => key),
  };
};

test('what a capsule was made of is kept from when another builds on it, where that is anything', async () => {
  const { store, kept } = underTest();
  await store({ id: 'empty' });
  await store({ id: 'sourced', sources: ['doc'], on: 'empty' });
  expect(await kept()).toEqual([]);

  await store({ id: 'third', on: 'sourced' });
  await store({ id: 'fourth', on: 'third' });

  expect(await kept()).toEqual(['sourced', 'third']);
});

test('a capsule that is refused leaves nothing of the one that it would have built on', async () => {
  const { memory, store, kept, stale } = underTest();
  await store({ id: 'a', sources: ['doc'] });

  await expect(stale({ id: 'b', on: 'a' })).rejects.toMatchObject({ code: 'forgotten_meanwhile' });

  expect(await kept()).toEqual([]);
  expect(await memory.getCapsule('b')).toBeUndefined();
});

test('forgetting a source takes the chain that leads to it, also through capsules that are gone, and what was kept of them', async () => {
  const { memory, store, prune, clock, ids, kept } = underTest();
  await store({ id: 'a', sources: ['doc'] });
  await store({ id: 'b', on: 'a' });
  await store({ id: 'side', sources: ['other'] });
  clock.advanceSecs(1);
  await store({ id: 'c', on: 'b' });
  await prune(1);
  await store({ id: 'd', on: 'c' });
  await store({ id: 'beside', on: 'c', sources: ['other'] });
  await store({ id: 'alone', on: 'side' });
  expect(await ids()).toEqual(['c', 'd', 'beside', 'alone']);

  await memory.forgetBySourceId('doc');

  expect(await ids()).toEqual(['alone']);
  expect(await kept()).toEqual([]);
});

test('a chain whose beginning is not known any more ends there', async () => {
  const { memory, store, ids } = underTest();
  await store({ id: 'a', on: 'never there' });
  await store({ id: 'b', sources: ['doc'], on: 'a' });

  expect(await memory.forgetBySourceId('doc')).toBe(1);

  expect(await ids()).toEqual(['a']);
});

test('a circle of capsules ends, whether its source is looked for or another one', async () => {
  const { memory, store, ids } = underTest();
  await store({ id: 'a', on: 'b', sources: ['doc'] });
  await store({ id: 'b', on: 'a' });
  await store({ id: 'own', on: 'own' });

  expect(await memory.forgetBySourceId('other')).toBe(0);
  expect(await memory.forgetBySourceId('doc')).toBe(2);

  expect(await ids()).toEqual(['own']);
});

test('a chain names what builds on a capsule, there or gone, and nothing else', async () => {
  const { memory, store, prune, clock, stored } = underTest();
  await store({ id: 'a', sources: ['doc'] });
  await store({ id: 'b', on: 'a' });
  clock.advanceSecs(1);
  await store({ id: 'c', on: 'b' });
  await store({ id: 'other', sources: ['other'] });
  await prune(1);

  const chain = await readChain({ store: stored, scope: memory.scope });

  expect(chain.capsules.map(({ id }) => id)).toEqual(['c', 'other']);
  expect(await chain.builtOn(({ sourceIds }) => sourceIds.includes('doc'))).toEqual(new Set(['a', 'b', 'c']));
  expect(await chain.builtOn(() => false)).toEqual(new Set());
});

test('only what was kept is removed, and no capsule is read where none comes before', async () => {
  const requests: unknown[] = [];
  const { memory, store, kept } = underTest((inner) => ({
    get: (...given) => {
      requests.push(['get', given[2]]);
      return inner.get(...given);
    },
    forgetValue: (scope, key) => {
      requests.push(['forgetValue', key]);
      return inner.forgetValue(scope, key);
    },
  }));
  await store({ id: 'a', sources: ['doc'] });
  await store({ id: 'b', on: 'a' });
  expect(await kept()).toEqual(['a']);

  expect(await memory.forgetBySourceId('doc')).toBe(2);

  expect(requests).toEqual([
    ['get', 'a'],
    ['forgetValue', 'a'],
  ]);
});
