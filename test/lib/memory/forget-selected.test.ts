import { expect, test } from 'vitest';
import type { NewCapsule } from '../../../lib/memory/agent-memory.ts';
import type { Message } from '../../../lib/memory/message.ts';
import { memoryUnderTest } from '../../support/memory-under-test.ts';

/** Two messages of a source, and capsules of them: one stored before a forget begins, one while its messages are read. */
const underTest = async () => {
  let meanwhile: () => Promise<unknown> = async () => {};
  const { memory } = memoryUnderTest((store) => {
    const forget = async <T>(removed: Promise<T>) => {
      const result = await removed;
      // Once: the capsules are removed by the same call as the messages.
      const once = meanwhile;
      meanwhile = async () => {};
      await once();
      return result;
    };
    return {
      forgetIds: (scope, kind, ids, moment) => {
        const removed = store.forgetIds(scope, kind, ids, moment);
        return kind === 'message' ? forget(removed) : removed;
      },
      forgetRange: (...range) => forget(store.forgetRange(...range)),
    };
  });
  const window = await memory.remember(['a', 'b'].map((id) => ({ id, content: id, source: 'doc' })));
  await memory.remember({ id: 'c', content: 'c' });
  const capsule = (id: string): NewCapsule => ({ ...memory.capsuleFromWindow(window, id), id });
  await memory.storeCapsule(capsule('before'));
  const ids = async () => (await memory.listCapsules()).items.map(({ id }) => id);
  return {
    memory,
    ids,
    whileForgetting: (work: () => Promise<unknown>) => {
      meanwhile = work;
    },
  };
};

test.each(['a range', 'a predicate'])(
  'capsules that are stored while their messages go by %s go too',
  async (how) => {
    const { memory, ids, whileForgetting } = await underTest();
    const { items } = await memory.recent();
    const time = items[0]?.timestamp ?? '';
    const selection =
      how === 'a range' ? { from: time, to: time } : { where: ({ id }: Message) => id === 'b' };
    let stored = false;
    whileForgetting(async () => {
      // As a call stores it that has read its messages before, and whose own ones are still there.
      const late = { ...memory.capsuleFromWindow(items, 'meanwhile'), id: 'meanwhile' };
      const since = await memory.store.moment(memory.scope);
      await memory.storeCapsule(late, { since });
      stored = true;
    });

    const forgotten = await memory.forgetMessages(selection, { capsules: 'forget' });

    expect(stored).toBe(true);
    expect(forgotten.capsules).toBe(0);
    expect(await ids()).toEqual([]);
  },
);

test('capsules go before the messages: a forget that fails in between leaves none that stands for what is gone', async () => {
  const { memory, ids, whileForgetting } = await underTest();
  whileForgetting(() => Promise.reject(new Error('away')));

  await expect(
    memory.forgetMessages({ where: ({ id }) => id === 'a' }, { capsules: 'forget' }),
  ).rejects.toThrow('away');

  expect(await ids()).toEqual([]);
});

test('a capsule of several messages is counted for each of them, and stays unless asked for', async () => {
  const { memory, ids } = await underTest();

  expect(await memory.forgetMessages({ where: ({ id }) => id === 'b' })).toEqual({ deleted: 1, capsules: 1 });
  expect(await ids()).toEqual(['before']);
});

test('forgetting a source takes and counts the capsules too that are made of it meanwhile', async () => {
  const { memory, ids, whileForgetting } = await underTest();
  const { items } = await memory.recent();
  whileForgetting(() => memory.storeCapsule({ ...memory.capsuleFromWindow(items, 'x'), messageIds: ['c'] }));

  expect(await memory.forgetBySourceId('doc')).toBe(4);

  expect(await ids()).toEqual([]);
});

test('a predicate sees every message of a session of many', async () => {
  const { memory } = memoryUnderTest();
  const ids = Array.from({ length: 100 }, (_, index) => `m${index}`);
  await memory.remember(ids.map((id) => ({ id, content: id })));
  const seen: string[] = [];

  expect(await memory.forgetSessionWhere(({ id }) => seen.push(id) > 0)).toBe(100);

  expect(seen).toEqual(ids);
});

test('capsules that build on one of a chosen message are counted with it, and go with it', async () => {
  const { memory } = memoryUnderTest();
  const [a, b] = await memory.remember(['a', 'b'].map((id) => ({ id, content: id })));
  if (!a || !b) throw new Error('not remembered');
  const first = await memory.storeCapsule({ ...memory.capsuleFromWindow([a], 'a'), id: 'first' });
  await memory.storeCapsule({ ...memory.capsuleFromWindow([b], 'ab', first), id: 'second' });
  const where = ({ id }: Message) => id === 'a';

  expect(await memory.forgetMessages({ where })).toEqual({ deleted: 1, capsules: 2 });
  await memory.remember({ id: 'a', content: 'a' });
  expect(await memory.forgetMessages({ where }, { capsules: 'forget' })).toEqual({ deleted: 1, capsules: 0 });

  expect((await memory.listCapsules()).items).toEqual([]);
});

test('a forget asks the store for what it has found, and for nothing where it found nothing', async () => {
  const requests: unknown[] = [];
  const { memory } = memoryUnderTest((store) => ({
    forgetIds(scope, kind, ids, moment) {
      requests.push([kind, ...ids]);
      return store.forgetIds(scope, kind, ids, moment);
    },
    listValues(scope, query) {
      requests.push(scope.kind);
      return store.listValues(scope, query);
    },
  }));
  const window = await memory.remember({ id: 'a', content: 'a', source: 'doc' });
  await memory.storeCapsule({ ...memory.capsuleFromWindow(window, 'a'), id: 'k' });
  const asked = async (forget: Promise<unknown>) => {
    await forget;
    return requests.splice(0).filter((request) => request !== 'lineage');
  };

  await memory.forgetMessages({ from: 0, to: 1 }, { capsules: 'forget' });
  expect(requests).toEqual([]);
  expect(await asked(memory.forgetBySourceId('other'))).toEqual([]);
  expect(await asked(memory.forgetMessages({ where: () => false }))).toEqual([['message']]);
  expect(await asked(memory.forgetBySourceId('doc'))).toEqual([
    ['capsule', 'k'],
    ['message', 'a'],
  ]);
});
