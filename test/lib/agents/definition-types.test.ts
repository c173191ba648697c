import type { StandardSchemaV1 } from '@standard-schema/spec';
import { describe, expectTypeOf, test } from 'vitest';
import {
  defineAgent,
  hibernate,
  memoryStore,
  scheduleDescriptor,
  thaw,
  updateAgent,
  webhook,
} from '../../../lib/index.ts';

interface Support {
  readonly mood: string;
  readonly turns: number;
}

const schema = {} as StandardSchemaV1<Support>;
const config = { store: memoryStore() };

/** Nothing here runs: `tsc` is the test. */
const typesOnly = (_body: () => unknown) => {};

describe('the types of a definition', () => {
  test('come from its schema', () => {
    typesOnly(async () => {
      const support = defineAgent({
        name: 'support',
        state: schema,
        dump: (agent) => {
          expectTypeOf(agent).toEqualTypeOf<Support>();
          return { ...agent, version: 2 };
        },
        load: (dump): Support => ({ mood: dump.mood, turns: dump.turns ?? 0 }),
        actions: {
          digest: async (session, { instance, agent, signal }) => {
            expectTypeOf(session.id).toEqualTypeOf<string>();
            expectTypeOf(signal).toEqualTypeOf<AbortSignal>();
            const found = await instance().thaw();
            if (found.status === 'ok') expectTypeOf(found.agent).toEqualTypeOf<Support>();
            await instance('other').update((current) => {
              expectTypeOf(current).toEqualTypeOf<Support | undefined>();
              return { mood: 'calm', turns: (current?.turns ?? 0) + 1 };
            });
            // @ts-expect-error the state does not fit
            await instance().hibernate({ mood: 1 });
            const other = await agent('planner').instance('x').thaw();
            if (other.status === 'ok') expectTypeOf(other.agent).toEqualTypeOf<unknown>();
          },
        },
        schedules: [
          scheduleDescriptor('nightly', '@daily', 'digest'),
          { name: 'hourly', cron: '@hourly', action: 'prune-raw-memory' },
          scheduleDescriptor('some', '@daily', String('digest')),
        ],
      });

      const found = await thaw(config, support, 'a');
      if (found.status === 'ok') expectTypeOf(found.agent).toEqualTypeOf<Support>();
      const updated = await updateAgent(config, support, 'a', (current) => {
        expectTypeOf(current).toEqualTypeOf<Support | undefined>();
        return undefined;
      });
      if (updated.status === 'ok' && updated.changed) expectTypeOf(updated.agent).toEqualTypeOf<Support>();
      await hibernate(config, support, 'a', { mood: 'calm', turns: 1 });
      // @ts-expect-error the state does not fit
      await hibernate(config, support, 'a', { mood: 'calm' });
    });
  });

  test('come from its load where there is no schema, and are unknown where there is neither', () => {
    typesOnly(async () => {
      const loading = defineAgent({ name: 'a', load: (dump): Support => dump });
      const found = await thaw(config, loading, 'a');
      if (found.status === 'ok') expectTypeOf(found.agent).toEqualTypeOf<Support>();

      const bare = defineAgent({ name: 'a', dump: (agent) => ({ ...agent, version: 2 }) });
      const unknown = await thaw(config, bare, 'a');
      if (unknown.status === 'ok') expectTypeOf(unknown.agent).toEqualTypeOf<unknown>();
      await hibernate(config, bare, 'a', { anything: true });

      const named = await thaw<Support>(config, 'a', 'a');
      if (named.status === 'ok') expectTypeOf(named.agent).toEqualTypeOf<Support>();
    });
  });

  test('hold for actions that are resolved later', () => {
    typesOnly(() => {
      const digest = () => null;
      defineAgent({
        name: 'a',
        actions: async () => ({ default: { digest } }),
        schedules: [scheduleDescriptor('nightly', '@daily', 'digest')],
      });
      defineAgent({
        name: 'a',
        actions: async () => ({ default: { digest } }),
        // @ts-expect-error no such action
        schedules: [scheduleDescriptor('nightly', '@daily', 'digst')],
      });
      // @ts-expect-error no handlers
      defineAgent({ name: 'a', actions: async () => ({ default: { digest: 'x' } }) });
    });
  });

  test('are those of the schema, and of the names there are, beside a webhook', () => {
    typesOnly(async () => {
      const digest = webhook({ url: 'https://agents.example.com/digest', secret: 'DIGEST_SECRET' });
      const support = defineAgent({
        name: 'support',
        state: schema,
        actions: { digest, wake: (_session, { instance }) => instance().thaw() },
        schedules: [scheduleDescriptor('nightly', '@daily', 'digest')],
      });
      const thawed = await thaw(config, support, 'a');
      if (thawed.status === 'ok') expectTypeOf(thawed.agent).toEqualTypeOf<Support>();
      const loading = defineAgent({
        name: 'a',
        load: (dump): Support => dump,
        actions: { digest },
      });
      const loaded = await thaw(config, loading, 'a');
      if (loaded.status === 'ok') expectTypeOf(loaded.agent).toEqualTypeOf<Support>();
      defineAgent({
        name: 'a',
        actions: { digest },
        // @ts-expect-error no such action
        schedules: [scheduleDescriptor('nightly', '@daily', 'digst')],
      });
    });
  });

  test('refuse what does not exist', () => {
    typesOnly(() => {
      // @ts-expect-error a misspelled field
      defineAgent({ name: 'a', scedules: [] });
      // @ts-expect-error a misspelled field beside callbacks
      defineAgent({ name: 'a', dump: (agent) => agent, Load: (dump: unknown) => dump });
      defineAgent({
        name: 'a',
        // @ts-expect-error a misspelled field of the limits
        limits: { maxError: 5 },
      });
      defineAgent({
        name: 'a',
        retention: {
          ...{ name: 'r', rawRetentionSecs: 1, capsuleRetentionSecs: null, compactAfterSecs: null },
          ...{ exportAllowed: true, forgetAllowed: true, metadata: {} },
          // @ts-expect-error a misspelled field of the policy
          rawRetentionSec: 1,
        },
      });
      defineAgent({
        name: 'a',
        actions: { digest: () => null },
        // @ts-expect-error no such action
        schedules: [scheduleDescriptor('nightly', '@daily', 'digst')],
      });
      defineAgent({
        name: 'a',
        actions: { digest: () => null },
        // @ts-expect-error no such action
        schedules: [{ name: 'nightly', cron: '@daily', action: 'digst' }],
      });
      defineAgent({
        name: 'a',
        actions: { digest: () => null },
        // @ts-expect-error a misspelled field of a schedule
        schedules: [{ name: 'nightly', cron: '@daily', action: 'digest', timeZone: 'UTC' }],
      });
      // @ts-expect-error no action at all
      defineAgent({ name: 'a', schedules: [scheduleDescriptor('nightly', '@daily', 'digest')] });
    });
  });
});
