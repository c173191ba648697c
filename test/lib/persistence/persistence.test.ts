import { beforeEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { defineAgent } from '../../../lib/agents/define-agent.ts';
import { ttlMaxSecs } from '../../../lib/defaults.ts';
import { memoryStore } from '../../../lib/in-memory/snapshot-store.ts';
import { forget } from '../../../lib/persistence/forget.ts';
import { hibernate } from '../../../lib/persistence/hibernate.ts';
import type { SnapshotCatalog, SnapshotStore } from '../../../lib/persistence/snapshot-store.ts';
import { thaw } from '../../../lib/persistence/thaw.ts';
import { testClock } from '../../support/test-clock.ts';

describe('hibernate, thaw and forget', () => {
  let store: SnapshotCatalog;
  const clock = testClock();

  beforeEach(() => {
    store = memoryStore({ clock: clock.now });
  });

  test('a state of any type is stored and comes back equal', async () => {
    const state = { seen: new Set([1]), at: new Date(0), big: 10n ** 30n, log: new Map([['a', [1, 2]]]) };

    const saved = await hibernate({ store }, 'support', 'user-1', state);

    expect(saved).toMatchObject({ status: 'ok', version: 1, created: true, updatedAt: clock.now() });
    const found = await thaw({ store }, 'support', 'user-1');
    expect(found).toStrictEqual({
      ...{ status: 'ok', agent: state, version: 1, updatedAt: clock.now() },
      etag: saved.status === 'ok' ? saved.etag : '',
    });
  });

  test('what was never stored is not_found, and forgetting it is ok', async () => {
    expect(await thaw({ store }, 'support', 'nobody')).toEqual({ status: 'not_found' });
    expect(await forget({ store }, 'support', 'nobody')).toEqual({ status: 'ok' });
  });

  test('a stale ifMatch is a conflict with the current ETag', async () => {
    const first = await hibernate({ store }, 'support', 'user-1', 1);
    const etag = first.status === 'ok' ? first.etag : '';
    const second = await hibernate({ store }, 'support', 'user-1', 2, { ifMatch: etag });

    const conflict = {
      status: 'error',
      error: { code: 'conflict', currentEtag: second.status === 'ok' && second.etag },
    };
    expect(await hibernate({ store }, 'support', 'user-1', 3, { ifMatch: etag })).toMatchObject(conflict);
    expect(await hibernate({ store }, 'support', 'user-1', 3, { ifNoneMatch: '*' })).toMatchObject(conflict);
    expect(await forget({ store }, 'support', 'user-1', { ifMatch: etag })).toMatchObject(conflict);
    expect(await thaw({ store }, 'support', 'user-1')).toMatchObject({ agent: 2 });
  });

  test('a bad option stores nothing and says which', async () => {
    for (const options of [
      ...[0, -1, 1.5, Number.NaN, ttlMaxSecs + 1, 1e15, '60' as never].map((ttlSeconds) => ({ ttlSeconds })),
      ...['', ['']].map((ifMatch) => ({ ifMatch })),
      { ifNoneMatch: '' },
      { ifMatch: [] },
      { ifMatch: [1 as never] },
      { ifMatch: ['E1', ''] },
    ]) {
      const refused = await hibernate({ store }, 'support', 'user-1', 1, options);
      expect(refused).toMatchObject({ status: 'error', error: { code: 'invalid_option' } });
    }
    expect(await thaw({ store }, 'support', 'user-1')).toEqual({ status: 'not_found' });
  });

  test('the shortest and the longest time to live are taken', async () => {
    for (const ttlSeconds of [1, ttlMaxSecs]) {
      const saved = await hibernate({ store }, 'support', 'user-1', 1, { ttlSeconds });
      expect(saved).toMatchObject({ status: 'ok' });
    }
  });

  test('a state that cannot be stored leaves the one before', async () => {
    await hibernate({ store }, 'support', 'user-1', 'before');

    const refused = await hibernate({ store }, 'support', 'user-1', { tools: [{ run: () => 1 }] });

    expect(refused).toMatchObject({
      status: 'error',
      error: { code: 'invalid_state', path: '$.tools[0].run' },
    });
    expect(await thaw({ store }, 'support', 'user-1')).toMatchObject({ agent: 'before' });
  });

  test('an empty, too long or unpaired key is invalid_key, on every call', async () => {
    for (const key of ['', 'x'.repeat(513), '\udfff']) {
      const invalid = { status: 'error', error: { code: 'invalid_key' } };
      expect(await hibernate({ store }, 'support', key, 1)).toMatchObject(invalid);
      expect(await thaw({ store }, 'support', key)).toMatchObject(invalid);
      expect(await forget({ store }, 'support', key)).toMatchObject(invalid);
    }
  });

  test('a ttl makes the state expire to the millisecond', async () => {
    await hibernate({ store, clock: clock.now }, 'support', 'user-1', 1, { ttlSeconds: 60 });
    clock.advanceSecs(59.999);
    expect(await thaw({ store }, 'support', 'user-1')).toMatchObject({ status: 'ok' });
    clock.advanceSecs(0.001);
    expect(await thaw({ store }, 'support', 'user-1')).toEqual({ status: 'not_found' });
  });

  test('a store that fails, however it fails, is never not_found', async () => {
    for (const thrown of [new Error('boom'), 'a string', undefined]) {
      const failing: SnapshotStore = {
        get: () => Promise.reject(thrown),
        put: () => Promise.reject(thrown),
        delete: () => Promise.reject(thrown),
      };
      const unavailable = { status: 'error', error: { code: 'unavailable', cause: thrown } };
      expect(await thaw({ store: failing }, 'support', 'user-1')).toMatchObject(unavailable);
      expect(await hibernate({ store: failing }, 'support', 'user-1', 1)).toMatchObject(unavailable);
      expect(await forget({ store: failing }, 'support', 'user-1')).toMatchObject(unavailable);
    }
  });

  test('without a store it says so', async () => {
    // biome-ignore lint/suspicious/noExplicitAny: what a caller without types can do
    for (const config of [{}, undefined, { store: undefined }] as any[]) {
      const expected = {
        status: 'error',
        error: { code: 'invalid_option', message: expect.stringContaining("'store'") },
      };
      expect(await hibernate(config, 'support', 'user-1', 1)).toMatchObject(expected);
      expect(await thaw(config, 'support', 'user-1')).toMatchObject(expected);
      expect(await forget(config, 'support', 'user-1')).toMatchObject(expected);
    }
  });

  test('what made a store fail is named', async () => {
    const failing = { ...store, get: () => Promise.reject(new TypeError('socket closed')) };

    expect(await thaw({ store: failing }, 'support', 'user-1')).toMatchObject({
      error: { code: 'unavailable', message: 'the store failed (TypeError: socket closed)' },
    });
  });

  test('a state that is undefined is refused, and what is stored stays', async () => {
    await hibernate({ store }, 'support', 'user-1', { precious: true });

    for (const agent of ['support', defineAgent({ name: 'support', dump: (state: unknown) => state })]) {
      expect(await hibernate({ store }, agent, 'user-1', undefined)).toMatchObject({
        status: 'error',
        error: { code: 'invalid_state', path: '$' },
      });
    }
    expect(await thaw({ store }, 'support', 'user-1')).toMatchObject({
      agent: { precious: true },
      version: 1,
    });
  });

  describe('the state at the call is stored, whatever becomes of it afterwards', () => {
    const fits = (answer: 'at once' | 'later') => ({
      '~standard': {
        version: 1 as const,
        vendor: 'test',
        validate: (value: unknown) => (answer === 'at once' ? { value } : Promise.resolve({ value })),
      },
    });
    const sync = (state: { turn: number }) => ({ ...state });
    const same = (state: { turn: number }) => state;
    const slow = async (state: { turn: number }) => ({ ...state });
    test.each([
      ['as it is', {}],
      ['with a schema', { state: fits('at once') }],
      ['with a schema that answers later', { state: fits('later') }],
      ['with a dump', { dump: sync }],
      ['with a dump that returns the state', { dump: same }],
      ['with an asynchronous dump', { dump: slow }],
      ['with a dump and a schema', { dump: same, state: fits('at once') }],
      ['with a dump and a schema that answers later', { dump: same, state: fits('later') }],
    ])('%s', async (_, definition) => {
      const agent = defineAgent({ name: 'support', ...definition });
      const state = { turn: 1, bytes: new Uint8Array([1]) };

      const saving = hibernate({ store }, agent, 'user-1', state);
      state.turn = 2;
      state.bytes[0] = 2;

      expect(await saving).toMatchObject({ status: 'ok' });
      const { agent: stored } = (await thaw({ store }, 'support', 'user-1')) as { agent: { turn: number } };
      expect(stored.turn).toBe(1);
    });

    test('bytes too', async () => {
      const bytes = new Uint8Array([1]);
      const saving = hibernate({ store }, 'support', 'user-1', bytes);
      bytes[0] = 2;
      await saving;

      expect(await thaw({ store }, 'support', 'user-1')).toMatchObject({ agent: new Uint8Array([1]) });
    });

    test('a state that does not fit is refused for that, whatever dump makes of it', async () => {
      const refusing = (issues: { message: string }[], later: boolean) => ({
        '~standard': {
          version: 1 as const,
          vendor: 'test',
          validate: () => (later ? Promise.resolve({ issues }) : { issues }),
        },
      });
      const dump = () => {
        throw new Error('no');
      };
      for (const later of [false, true]) {
        const agent = defineAgent({
          name: 'support',
          state: refusing([{ message: 'no mood' }], later),
          dump,
        });
        expect(await hibernate({ store }, agent, 'user-1', {})).toMatchObject({
          error: { code: 'invalid_state' },
        });
      }
    });
  });

  describe('with callbacks', () => {
    interface Support {
      mood: string;
      cache?: object | undefined;
    }
    const support = defineAgent({
      name: 'support',
      dump: async (agent: Support, { key }) => ({ ...agent, cache: undefined, key, version: 2 }),
      load: (dump: Support & { version: number }) => ({ ...dump, cache: new Map() }),
    });

    test('dump makes what is stored and load what is woken', async () => {
      await hibernate({ store }, support, 'user-1', { mood: 'calm', cache: { huge: true } });

      expect(await thaw({ store }, 'support', 'user-1')).toMatchObject({
        agent: { mood: 'calm', key: 'user-1', version: 2 },
      });
      expect(await thaw({ store }, support, 'user-1')).toMatchObject({
        agent: { mood: 'calm', cache: new Map() },
      });
    });

    test.each([
      [
        'throws',
        () => {
          throw new Error('no');
        },
      ],
      ['rejects', () => Promise.reject(new Error('no'))],
      ['rejects with nothing', () => Promise.reject(undefined)],
      ['returns nothing', () => undefined],
      ['resolves nothing', async () => {}],
    ])(
      'a dump that %s is dump_failed and stores nothing; a load that does is load_failed and loses nothing',
      async (_how, callback) => {
        const saved = await hibernate({ store }, 'support', 'user-1', 'before');

        const dumped = await hibernate(
          { store },
          defineAgent({ name: 'support', dump: callback }),
          'user-1',
          'after',
        );
        expect(dumped).toMatchObject({ status: 'error', error: { code: 'dump_failed' } });
        const loaded = await thaw({ store }, defineAgent({ name: 'support', load: callback }), 'user-1');
        expect(loaded).toMatchObject({ status: 'error', error: { code: 'load_failed' } });

        expect(await thaw({ store }, 'support', 'user-1')).toMatchObject({
          ...{ status: 'ok', agent: 'before', etag: saved.status === 'ok' && saved.etag },
        });
      },
    );

    test('a state that does not fit the schema is invalid_state, names the field, and leaves the one before', async () => {
      const strict = defineAgent({
        name: 'strict',
        state: z.object({ mood: z.string(), tags: z.array(z.string()) }),
      });
      await hibernate({ store }, strict, 'user-1', { mood: 'calm', tags: [] });

      const refused = await hibernate({ store }, strict, 'user-1', {
        mood: 'calm',
        tags: ['a', 7 as never],
      });

      expect(refused).toMatchObject({ status: 'error', error: { code: 'invalid_state', path: '$.tags.1' } });
      expect(await thaw({ store }, strict, 'user-1')).toMatchObject({ agent: { mood: 'calm', tags: [] } });
    });

    test('a schema that throws has refused the state', async () => {
      const validate = () => {
        throw new Error('no');
      };
      const state = { '~standard': { version: 1, vendor: 'test', validate } } as const;

      const refused = await hibernate({ store }, { name: 'throwing', state }, 'user-1', 1);

      expect(refused).toMatchObject({ status: 'error', error: { code: 'invalid_state' } });
    });

    test('a schema only checks: the state is stored as it is, not as the schema would change it', async () => {
      const changing = defineAgent({ name: 'changing', state: z.object({ mood: z.string().trim() }) });

      const state = { mood: ' calm ', more: 1 };
      await hibernate({ store }, changing, 'user-1', state);

      expect(await thaw({ store }, changing, 'user-1')).toMatchObject({ agent: state });
    });
  });
});
