import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { AppendRequest, MemoryScope, MemoryStore, ValueScope } from '../../lib/memory/memory-store.ts';
import { packValue } from '../../lib/memory/message-codec.ts';
import { type TestClock, testClock } from '../support/test-clock.ts';
import type { MemoryStoreUnderTest } from './memory-store-contract.ts';

/** What every memory store must do that `createMemory` asks of it, where nobody sees it from outside. */
export function describeMemoryPort(name: string, setUp: () => Promise<MemoryStoreUnderTest>): void {
  describe(`${name} keeps the contract of the port`, () => {
    let underTest: MemoryStoreUnderTest;
    let clock: TestClock;
    let store: MemoryStore;
    let scope: MemoryScope;
    let agents = 0;

    beforeAll(async () => {
      underTest = await setUp();
    });
    beforeEach(() => {
      clock = testClock();
      store = underTest.open({ clock: clock.now });
      scope = { agent: `agent-${++agents}`, session: 's1' };
    });
    afterAll(async () => {
      await underTest.close?.();
    });

    const request = async (
      ids: readonly string[],
      more: Partial<AppendRequest> = {},
    ): Promise<AppendRequest> => {
      const record = async (id: string) => ({
        ...{ id, at: undefined, digest: Buffer.alloc(32, id) },
        dump: await packValue({ v: 1, id }, 'value'),
      });
      return {
        records: await Promise.all(ids.map(record)),
        ...{ receivedAt: clock.now().getTime(), retentionSecs: undefined, requestId: undefined },
        ...more,
      };
    };
    const append = async (ids: readonly string[], more?: Partial<AppendRequest>) =>
      store.append(scope, 'message', await request(ids, more));
    const listed = async (kind: 'message' | 'capsule' = 'message') =>
      (await store.list(scope, kind, { order: 'asc', limit: 50 })).items.map(({ id }) => id);
    const put = async (of: ValueScope, ...keys: string[]) => {
      for (const key of keys) await store.putValue(of, key, await packValue(key, 'value'));
    };
    const keysOf = async (of: ValueScope) =>
      (await store.listValues(of, { limit: 50 })).items.map(({ key }) => key);
    const user = (identity: string, more: Partial<MemoryScope> = {}): ValueScope => ({
      ...{ kind: 'user', ...scope, identity, ...more },
    });

    test('values are listed by key; identities in order, where they have data, of this session only', async () => {
      await put(user('zoe'), 'b', 'c', 'a');
      await put(user('änne'), 'x');
      await put(user('ann'), 'x');
      await put(user('bob', { session: 's2' }), 'x');
      await put(user('carl', { agent: `${scope.agent}/other` }), 'x');
      await put({ kind: 'lineage', ...scope }, 'x');
      await put({ kind: 'knowledge', agent: scope.agent }, 'x');

      expect(await keysOf(user('zoe'))).toEqual(['a', 'b', 'c']);
      expect(await store.listIdentities(scope)).toEqual(['ann', 'zoe', 'änne']);
      await store.forgetValue(user('ann'), 'x');
      expect(await store.listIdentities(scope)).toEqual(['zoe', 'änne']);
      const knowledge = { kind: 'knowledge', agent: `${scope.agent}/other` } as const;
      await put(knowledge, ...'hgfedcba');
      expect(await keysOf(knowledge)).toEqual([...'abcdefgh']);
    });

    test('values are listed in pages, by the bytes of their keys, past those that were forgotten', async () => {
      // As UTF-16 the last two would be the other way round.
      const keys = ['a', 'b', 'b/c', 'ba', 'é', '\uFFFD', '\u{1F980}'];
      for (const of of [user('ann'), { kind: 'knowledge', agent: scope.agent } as const]) {
        await put(of, ...keys.toReversed(), ...Array.from({ length: 12 }, (_, index) => `aa${index}`));
        for (let index = 0; index < 12; index++) await store.forgetValue(of, `aa${index}`);
        for (const limit of [1, 2, 3, 7, 8]) {
          const listed: string[] = [];
          let after: string | undefined;
          do {
            const { items, next } = await store.listValues(of, { limit, after });
            listed.push(...items.map(({ key }) => key));
            if (next !== undefined) expect(items).toHaveLength(limit);
            after = next;
          } while (after !== undefined);
          expect(listed, `in pages of ${limit}`).toEqual(keys);
        }
        expect(await store.listValues(of, { limit: 7, after: '\u{1F980}' })).toEqual({ items: [] });
      }
    });

    test('a value is read by its key, as it was set last, until it is forgotten', async () => {
      const knowledge: ValueScope = { kind: 'knowledge', agent: scope.agent };
      const lineage: ValueScope = { kind: 'lineage', ...scope };
      for (const of of [user('ann'), knowledge, lineage]) {
        expect(await store.getValue(of, 'x/y')).toBeUndefined();
        const [first, last] = [await packValue('first', 'value'), await packValue('last', 'value')];
        for (const dump of [first, last]) await store.putValue(of, 'x/y', dump);

        expect(await store.getValue(of, 'x/y')).toEqual(
          (await store.listValues(of, { limit: 1 })).items[0]?.dump,
        );
        expect(Buffer.from((await store.getValue(of, 'x/y'))?.data ?? [])).toEqual(Buffer.from(last.data));
        expect(await store.getValue(of, 'x')).toBeUndefined();
        expect(await store.getValue(user('bob'), 'x/y')).toBeUndefined();

        await store.forgetValue(of, 'x/y');
        expect(await store.getValue(of, 'x/y')).toBeUndefined();
      }
    });

    test('a session that is forgotten takes its values along, and no other session’s', async () => {
      const kept = [user('ann', { session: 's2' }), user('ann', { agent: `${scope.agent}/other` })];
      for (const one of [...kept, user('ann'), { kind: 'lineage', ...scope } as const]) await put(one, 'x');

      await store.forgetScope(scope);

      expect(await store.listIdentities(scope)).toEqual([]);
      expect(await keysOf({ kind: 'lineage', ...scope })).toEqual([]);
      for (const one of kept) expect(await keysOf(one)).toEqual(['x']);
    });

    test('what `admit` throws the call rejects, and nothing is stored', async () => {
      const admit = () => Promise.reject(new Error('not registered'));

      await expect(append(['a'], { admit })).rejects.toThrow('not registered');
      await expect(store.putValue(user('ann'), 'x', await packValue(1, 'value'), { admit })).rejects.toThrow(
        'not registered',
      );

      expect(await listed()).toEqual([]);
      expect(await keysOf(user('ann'))).toEqual([]);
    });

    test('a call in whose `admit` something is forgotten asks again, and is stored after it', async () => {
      let asked = 0;
      const admit = async () => {
        if (++asked === 1) await store.beginForget(scope);
      };

      const [first] = await append(['a'], { admit });

      expect(asked).toBe(2);
      expect(first).toMatchObject({ created: true, record: { id: 'a' } });
      expect(await listed()).toEqual(['a']);
    });

    test('what was read before something was forgotten is not stored: records and values', async () => {
      const since = await store.moment(scope);
      await append(['a'], { since });
      await store.beginForget(scope);
      const forgottenMeanwhile = { code: 'forgotten_meanwhile' };

      await expect(append(['b'], { since })).rejects.toMatchObject(forgottenMeanwhile);
      await expect(
        store.putValue(user('ann'), 'x', await packValue(1, 'value'), { since }),
      ).rejects.toMatchObject(forgottenMeanwhile);

      expect(await listed()).toEqual(['a']);
      expect(await keysOf(user('ann'))).toEqual([]);
    });

    test('what is forgotten while a call is under way that goes by what it has read refuses the call', async () => {
      const lineage = { kind: 'lineage', ...scope } as const;
      const since = await store.moment(scope);
      const admit = async () => {
        await store.beginForget(scope);
      };
      const forgottenMeanwhile = { code: 'forgotten_meanwhile' };

      await expect(append(['a'], { since, admit })).rejects.toMatchObject(forgottenMeanwhile);
      await expect(
        store.putValue(lineage, 'x', await packValue(1, 'value'), {
          ...{ since: await store.moment(scope), admit },
        }),
      ).rejects.toMatchObject(forgottenMeanwhile);

      expect(await listed()).toEqual([]);
      expect(await keysOf(lineage)).toEqual([]);
    });

    test.each([
      ['for a day', undefined, 86_400],
      ['for a day where they are kept for longer', 90_000, 86_400],
      ['for as long as they are kept', 100, 100],
    ])(
      'the records of a request have its time when it is sent again, %s',
      async (_, retentionSecs, knownSecs) => {
        const at = clock.now().getTime();
        const sendAgain = async (id: string) => {
          const [one] = await append([id], { requestId: 'r', retentionSecs });
          return one && 'record' in one ? one.record.at - at : Number.NaN;
        };

        expect(await sendAgain('a')).toBe(0);
        clock.advanceSecs(knownSecs - 1);
        expect(await sendAgain('b')).toBe(0);
        clock.advanceSecs(1);
        expect(await sendAgain('c')).toBe(knownSecs * 1000);
        clock.advanceSecs(1);
        expect(await sendAgain('d')).toBe(knownSecs * 1000);
      },
    );

    test('a request that is sent again after something was forgotten is another one', async () => {
      await append(['a'], { requestId: 'r' });
      clock.advanceSecs(1);
      await store.beginForget(scope);

      expect(await append(['b'], { requestId: 'r' })).toMatchObject([
        { record: { at: clock.now().getTime() } },
      ]);
    });

    test('arrivals go up from call to call, and tell what had arrived by a moment', async () => {
      const before = await store.moment(scope);
      const [first] = await append(['a', 'b']);
      const between = await store.moment(scope);
      const [second] = await append(['c']);

      const arrivals = [first, second].map((one) =>
        one && 'record' in one ? one.record.arrival : Number.NaN,
      );
      const [ofFirst = 0, ofSecond = 0] = arrivals;
      expect(ofFirst).toBeGreaterThan(before.arrivals);
      expect(ofFirst).toBeLessThanOrEqual(between.arrivals);
      expect(ofSecond).toBeGreaterThan(between.arrivals);
    });

    test('a forget is after what was stored, and before what comes', async () => {
      await append(['a']);
      const before = await store.moment(scope);
      const forget = await store.beginForget(scope);
      const after = await store.moment(scope);

      expect(forget.forgets).toBeGreaterThan(before.forgets);
      expect(after.forgets).toBe(forget.forgets);
    });

    test('a compaction removes what had arrived by its moment: not a later message under one of the ids', async () => {
      await append(['a', 'b']);
      const { arrivals } = await store.moment(scope);
      await store.forgetIds(scope, 'message', ['a'], await store.beginForget(scope));
      await append(['a']);

      expect(await store.removeCompacted(scope, ['a', 'b', 'c'], { arrivals })).toBe(1);

      expect(await listed()).toEqual(['a']);
      expect(await append(['b'])).toEqual([{ compacted: expect.objectContaining({ id: 'b' }) }]);
      expect(await listed()).toEqual(['a']);
    });

    test('an id that a forgotten capsule held is free again', async () => {
      await append(['a']);
      await store.removeCompacted(scope, ['a'], await store.moment(scope));

      await store.releaseCompacted(scope, ['a'], await store.beginForget(scope));

      expect(await append(['a'])).toMatchObject([{ created: true }]);
      expect(await listed()).toEqual(['a']);
    });

    test('what was forgotten is known for a day, by messages alone, and until it is sent again', async () => {
      await append(['a', 'b', 'c']);
      await store.append(scope, 'capsule', await request(['c']));
      await store.forgetIds(scope, 'message', ['a', 'b'], await store.beginForget(scope));
      await store.forgetIds(scope, 'capsule', ['c'], await store.beginForget(scope));
      await append(['b']);

      expect(await store.forgottenAmong(scope, ['a', 'b', 'c', 'd'])).toEqual(['a']);
      clock.advanceSecs(86_400 - 1);
      expect(await store.forgottenAmong(scope, ['a'])).toEqual(['a']);
    });

    test('a capsule under the id of a message is another thing: compacted, forgotten or stored', async () => {
      await append(['a', 'b', 'c']);
      await store.removeCompacted(scope, ['a'], await store.moment(scope));
      await store.forgetIds(scope, 'message', ['b'], await store.beginForget(scope));

      expect(await store.append(scope, 'capsule', await request(['a', 'b', 'c']))).toMatchObject(
        Array(3).fill({ created: true }),
      );

      expect(await append(['a'])).toMatchObject([{ compacted: { id: 'a' } }]);
      expect(await store.forgottenAmong(scope, ['a', 'b', 'c'])).toEqual(['b']);
      expect([await listed(), await listed('capsule')]).toEqual([['c'], ['a', 'b', 'c']]);
    });

    test('a request that is sent again after its records were pruned keeps their time', async () => {
      const first = await append(['a', 'b'], { requestId: 'r' });
      const at = clock.now().getTime();
      clock.advanceSecs(10);
      expect(await store.prune(scope, 'message', at)).toBe(2);

      const again = await append(['a', 'b'], { requestId: 'r' });
      const other = await append(['c'], { requestId: 's' });

      const timeOf = (one: (typeof first)[number] | undefined) =>
        one && 'record' in one ? one.record.at : undefined;
      expect(again.map(timeOf)).toEqual([at, at]);
      expect(timeOf(other[0])).toBe(at + 10_000);
      expect(await listed()).toEqual(['a', 'b', 'c']);
    });

    test('what has expired is absent: its id is free, and nothing of it is forgotten or compacted', async () => {
      await append(['a', 'b'], { retentionSecs: 100 });
      clock.advanceSecs(100);

      expect(await store.get(scope, 'message', 'a')).toBeUndefined();
      expect(await store.forgetIds(scope, 'message', ['b'], await store.beginForget(scope))).toBe(0);
      expect(await append(['a'])).toMatchObject([{ created: true }]);
      expect(await listed()).toEqual(['a']);
    });
  });
}
