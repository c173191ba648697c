import fc from 'fast-check';
import { beforeEach, describe, expect, test } from 'vitest';
import { ConflictError, UnavailableError } from '../../../lib/errors.ts';
import {
  defineAgent,
  forget,
  hibernate,
  memoryStore,
  orThrow,
  thaw,
  updateAgent,
} from '../../../lib/index.ts';
import type { SnapshotStore } from '../../../lib/persistence/snapshot-store.ts';
import { testClock } from '../../support/test-clock.ts';

interface Counting {
  readonly turns: number;
}
const next = (agent: Counting | undefined) => ({ turns: (agent?.turns ?? 0) + 1 });

describe('updating an agent', () => {
  let store: SnapshotStore;
  const update = (key = 'user-1') => updateAgent<Counting>({ store }, 'support', key, next);
  const stored = async (key = 'user-1') => thaw<Counting>({ store }, 'support', key);

  beforeEach(() => {
    store = memoryStore();
  });

  test('begins where nothing is stored, and goes on from what is', async () => {
    expect(await update()).toMatchObject({ status: 'ok', changed: true, agent: { turns: 1 }, version: 1 });
    const second = orThrow(await update());

    expect(second).toMatchObject({ changed: true, agent: { turns: 2 }, version: 2 });
    expect(await stored()).toMatchObject({ agent: { turns: 2 }, etag: second.etag });
  });

  test('changes nothing where the callback returns undefined', async () => {
    const nothing = await updateAgent<Counting>({ store }, 'support', 'user-1', () => undefined);
    expect(nothing).toEqual({ status: 'ok', changed: false });
    expect((await stored()).status).toBe('not_found');

    const saved = orThrow(await update());
    const same = await updateAgent<Counting>({ store }, 'support', 'user-1', async () => undefined);
    expect(same).toMatchObject({ changed: false, agent: { turns: 1 }, etag: saved.etag, version: 1 });
    expect(await stored()).toMatchObject({ etag: saved.etag });
  });

  test('goes through the callbacks and the schema of the agent', async () => {
    const agent = defineAgent({
      name: 'support',
      dump: ({ turns }: Counting) => ({ count: turns }),
      load: ({ count }): Counting => ({ turns: count }),
    });

    await updateAgent({ store }, agent, 'user-1', next);
    await updateAgent({ store }, agent, 'user-1', next);

    expect(await thaw({ store }, agent, 'user-1')).toMatchObject({ agent: { turns: 2 } });
    expect(await stored()).toMatchObject({ agent: { count: 2 } });
  });

  test('stores nothing where the callback throws, and rejects with what it threw', async () => {
    await update();
    const thrown = new Error('not now');

    const updating = updateAgent({ store }, 'support', 'user-1', () => {
      throw thrown;
    });

    await expect(updating).rejects.toBe(thrown);
    expect(await stored()).toMatchObject({ agent: { turns: 1 }, version: 1 });
  });

  test('a read that failed is an error, not a fresh start', async () => {
    await update();
    const failing: SnapshotStore = {
      ...store,
      get: async () => {
        throw new UnavailableError('away');
      },
    };
    const seen: unknown[] = [];

    const result = await updateAgent({ store: failing }, 'support', 'user-1', (agent) => {
      seen.push(agent);
      return { turns: 100 };
    });

    expect(result).toMatchObject({ status: 'error', error: { code: 'unavailable' } });
    expect(seen).toEqual([]);
    expect(await stored()).toMatchObject({ agent: { turns: 1 } });
  });

  test('goes on from what somebody else saved, created or forgot in between', async () => {
    const seen: unknown[] = [];
    const meanwhile = [
      () => hibernate({ store }, 'support', 'user-1', { turns: 10 }),
      () => hibernate({ store }, 'support', 'user-1', { turns: 20 }),
      () => forget({ store }, 'support', 'user-1'),
    ];

    const result = await updateAgent<Counting>({ store }, 'support', 'user-1', async (agent) => {
      seen.push(agent?.turns);
      await meanwhile.shift()?.();
      return next(agent);
    });

    expect(result).toMatchObject({ status: 'ok', agent: { turns: 1 } });
    expect(seen).toEqual([undefined, 10, 20, undefined]);
  });

  test('gives up as a conflict where somebody else is always faster', async () => {
    let calls = 0;

    const result = await updateAgent<Counting>({ store }, 'support', 'user-1', async (agent) => {
      calls++;
      await hibernate({ store }, 'support', 'user-1', { turns: 1000 + calls });
      return next(agent);
    });

    expect(result).toMatchObject({ status: 'error', error: expect.any(ConflictError) });
    expect(calls).toBe(20);
    expect(await stored()).toMatchObject({ agent: { turns: 1020 } });
  });

  test('an outcome that is not known is an error, and is not tried again', async () => {
    let puts = 0;
    const losing: SnapshotStore = {
      ...store,
      put: async (...given) => {
        puts++;
        await store.put(...given);
        throw new UnavailableError('the answer was lost');
      },
    };

    const result = await updateAgent<Counting>({ store: losing }, 'support', 'user-1', next);

    expect(result).toMatchObject({ status: 'error', error: { code: 'unavailable' } });
    expect(puts).toBe(1);
    expect(await stored()).toMatchObject({ agent: { turns: 1 } });
  });

  test('expires by the ttl of the update, not by that of the one before', async () => {
    const clock = testClock();
    store = memoryStore({ clock: clock.now });
    const lasting = (ttlSeconds?: number) =>
      updateAgent<Counting>({ store, clock: clock.now }, 'support', 'user-1', next, { ttlSeconds });

    await lasting(60);
    await lasting();
    clock.advanceSecs(61);
    expect((await stored()).status).toBe('ok');

    await lasting(60);
    clock.advanceSecs(61);
    expect((await stored()).status).toBe('not_found');
  });

  test('of many at once none is lost and none counts twice', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.record({ key: fc.integer({ max: 2, min: 0 }), by: fc.integer({ min: 1, max: 9 }) }), {
          maxLength: 12,
        }),
        fc.scheduler(),
        async (updates, scheduler) => {
          const inner = memoryStore();
          // Each request of each updater comes when the scheduler says.
          const interleaved: SnapshotStore = {
            get: scheduler.scheduleFunction((key: string) => inner.get(key)),
            put: scheduler.scheduleFunction((...given: Parameters<SnapshotStore['put']>) =>
              inner.put(...given),
            ),
            delete: inner.delete,
          };
          const running = updates.map(({ key, by }) =>
            updateAgent<number[]>({ store: interleaved }, 'support', String(key), (list = []) => [
              ...list,
              by,
            ]),
          );
          const results = await scheduler.waitFor(Promise.all(running));

          const done = updates.filter((_, at) => results[at]?.status === 'ok');
          for (const key of [0, 1, 2]) {
            const found = await thaw<number[]>({ store: inner }, 'support', String(key));
            const kept = found.status === 'ok' ? found.agent : [];
            const expected = done.filter((update) => update.key === key).map(({ by }) => by);
            expect(kept.toSorted()).toEqual(expected.toSorted());
          }
          // With so few updaters nobody has to give up.
          expect(done).toHaveLength(updates.length);
        },
      ),
      { numRuns: 50 },
    );
  });
});

describe('orThrow', () => {
  test('returns what succeeded, and throws the error of what did not', async () => {
    const store = memoryStore();

    expect(orThrow(await thaw({ store }, 'support', 'user-1'))).toEqual({ status: 'not_found' });
    expect(orThrow(await hibernate({ store }, 'support', 'user-1', 1)).version).toBe(1);
    const refused = await hibernate({ store }, 'support', 'user-1', 2, { ifNoneMatch: '*' });
    expect(() => orThrow(refused)).toThrow(ConflictError);
  });
});
