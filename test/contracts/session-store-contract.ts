import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { sessionShards } from '../../lib/defaults.ts';
import { eachSession, listSessions } from '../../lib/sessions/list-sessions.ts';
import type { SessionStore } from '../../lib/sessions/session-store.ts';

export interface SessionStoreUnderTest {
  readonly store: SessionStore;
  close?(): Promise<void>;
}

/** What every session store must do. */
export function describeSessionStore(name: string, setUp: () => Promise<SessionStoreUnderTest>): void {
  describe(`${name} keeps the contract of a session store`, () => {
    const [t0, t1] = [new Date('2027-01-01T00:00:00.250Z'), new Date('2027-01-02T00:00:00.250Z')];
    let underTest: SessionStoreUnderTest;
    let store: SessionStore;
    let agent: string;
    let agents = 0;

    beforeAll(async () => {
      underTest = await setUp();
      store = underTest.store;
    });
    beforeEach(() => {
      agent = `agent-${++agents}`;
    });
    afterAll(async () => {
      await underTest.close?.();
    });

    const idsOf = async (of = agent, pageSize = 3) => {
      const ids: string[] = [];
      for await (const { id } of eachSession(store, of, pageSize)) ids.push(id);
      return ids;
    };

    test('registering again keeps when it was registered, and replaces the rest', async () => {
      const first = await store.register(agent, { id: 's1', meta: { a: 1, state: 'x' }, at: t0 });
      const second = await store.register(agent, { id: 's1', meta: { b: 2 }, at: t1 });

      expect(first).toEqual({
        session: { id: 's1', meta: { a: 1, state: 'x' }, registeredAt: t0, lastActiveAt: t0 },
        created: true,
      });
      expect(second).toEqual({
        session: { id: 's1', meta: { b: 2 }, registeredAt: t0, lastActiveAt: t1 },
        created: false,
      });
      expect(await store.get(agent, 's1')).toEqual(second.session);
      expect(await idsOf()).toEqual(['s1']);
    });

    test('of ten who register at once one creates', async () => {
      const outcomes = await Promise.all(
        Array.from({ length: 10 }, (_, writer) =>
          store.register(agent, { id: 's1', meta: { writer }, at: t0 }),
        ),
      );

      expect(outcomes.filter(({ created }) => created)).toHaveLength(1);
      expect(await idsOf()).toEqual(['s1']);
    });

    test('marking as active moves nothing else, and registers nothing', async () => {
      await store.register(agent, { id: 's1', meta: { a: 1 }, at: t0 });

      expect(await store.touch(agent, 's1', t1)).toBe(true);
      expect(await store.touch(agent, 's2', t1)).toBe(false);

      expect(await store.get(agent, 's1')).toEqual({
        id: 's1',
        meta: { a: 1 },
        registeredAt: t0,
        lastActiveAt: t1,
      });
      expect(await store.get(agent, 's2')).toBeUndefined();
    });

    test('a session is deregistered as it was seen, and stays where it was registered anew since', async () => {
      const { session: seen } = await store.register(agent, { id: 's1', meta: { mark: 'a' }, at: t0 });
      await store.touch(agent, 's1', t1);
      expect(await store.deregister(agent, 's2', seen)).toBe(false);
      await store.register(agent, { id: 's1', meta: { mark: 'b' }, at: t0 });

      expect(await store.deregister(agent, 's1', seen)).toBe(false);
      expect(await idsOf()).toEqual(['s1']);
      expect(await store.deregister(agent, 's1', { meta: { mark: 'b' } })).toBe(true);
      expect(await idsOf()).toEqual([]);
      expect(await store.deregister(agent, 's1', { meta: { mark: 'b' } })).toBe(false);
    });

    test('a session that was deregistered is gone, and starts over when it comes again', async () => {
      await store.register(agent, { id: 's1', meta: {}, at: t0 });

      expect(await store.deregister(agent, 's1')).toBe(true);
      expect(await store.deregister(agent, 's1')).toBe(false);

      expect(await store.get(agent, 's1')).toBeUndefined();
      expect(await idsOf()).toEqual([]);
      expect(await store.register(agent, { id: 's1', meta: {}, at: t1 })).toMatchObject({
        created: true,
        session: { registeredAt: t1 },
      });
    });

    test('each session is listed once and touched alone, whatever its neighbours are called', async () => {
      const ids = ['s1', 's10', 's1/x', 's1#', 'S1', ' s1', 'ä🔑', 's1\n', '..', '%2F', 's1~'];
      for (const of of [agent, `${agent}0`, `${agent}/s1`, agent.slice(0, -1)])
        for (const id of ids) await store.register(of, { id, meta: { of, id }, at: t0 });

      await store.deregister(agent, 's1');

      expect((await idsOf()).sort()).toEqual(ids.filter((id) => id !== 's1').sort());
      expect((await idsOf(`${agent}0`)).sort()).toEqual([...ids].sort());
      for (const id of ids)
        expect(await store.get(`${agent}/s1`, id)).toMatchObject({ id, meta: { of: `${agent}/s1`, id } });
    });

    test('shards and pages add up, in one order, whatever the page size', async () => {
      const ids = Array.from({ length: 60 }, (_, index) => `s${index}`);
      for (const id of ids) await store.register(agent, { id, meta: {}, at: t0 });

      const all = await idsOf(agent, 100);
      expect([...all].sort()).toEqual([...ids].sort());
      for (const pageSize of [1, 2, 7]) expect(await idsOf(agent, pageSize)).toEqual(all);

      const perShard = await Promise.all(
        Array.from({ length: sessionShards }, (_, shard) => store.listShard({ agent, shard, limit: 60 })),
      );
      expect(perShard.filter(({ items }) => items.length > 0).length).toBeGreaterThan(sessionShards / 2);
      expect(perShard.flatMap(({ items }) => items.map(({ id }) => id))).toEqual(all);
    });

    test('pages over all shards add up; one that is exactly full and the last has no next', async () => {
      for (let index = 0; index < 20; index++)
        await store.register(agent, { id: `s${index}`, meta: {}, at: t0 });

      for (const limit of [1, 3, 10, 20]) {
        const sizes: number[] = [];
        const ids: string[] = [];
        let after: string | undefined;
        do {
          const page = await listSessions(store, { agent, limit, after });
          sizes.push(page.items.length);
          ids.push(...page.items.map(({ id }) => id));
          after = page.next;
        } while (after !== undefined);

        expect(ids).toEqual(await idsOf());
        expect(sizes).toHaveLength(Math.ceil(20 / limit));
      }
      expect(await listSessions(store, { agent: 'nobody', limit: 5 })).toEqual({
        items: [],
        next: undefined,
      });
      await expect(listSessions(store, { agent, limit: 5, after: 'mangled' })).rejects.toMatchObject({
        code: 'invalid_input',
        field: 'after',
      });
    });

    test('a session that is deregistered between two pages ends nothing', async () => {
      const ids = Array.from({ length: 40 }, (_, index) => `s${index}`);
      for (const id of ids) await store.register(agent, { id, meta: {}, at: t0 });

      const seen: string[] = [];
      for await (const { id } of eachSession(store, agent, 2)) {
        seen.push(id);
        await store.deregister(agent, id);
      }

      expect(seen.sort()).toEqual([...ids].sort());
    });
  });
}
