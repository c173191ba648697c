import { expect, test } from 'vitest';
import { actionNames } from '../../../lib/agents/actions.ts';
import { createMemory } from '../../../lib/memory/create-memory.ts';
import { DEFAULT_RETENTION, KEEP_EVERYTHING } from '../../../lib/memory/retention.ts';
import { startRun } from '../../../lib/runs/start-run.ts';
import { engineUnderTest } from '../../support/engine-under-test.ts';

const prune = 'prune-raw-memory';

test('an agent has its own actions, and the one that all have; its own comes before it', async () => {
  const own = () => {};

  expect(await actionNames(undefined)).toBeUndefined();
  expect(await actionNames({ name: 'support' })).toEqual([prune]);
  expect(await actionNames({ name: 'support', actions: { digest: own, [prune]: own } })).toEqual([
    'digest',
    prune,
  ]);
});

test('what is older than the policy allows is pruned without the agent writing it: messages and capsules', async () => {
  const retention = {
    ...DEFAULT_RETENTION,
    rawRetentionSecs: 100,
    compactAfterSecs: 50,
    capsuleRetentionSecs: 200,
  };
  const { engine, register, work, clock } = engineUnderTest({ retention });
  await register(1);
  const { stores } = engine;
  // Stored by another policy: nothing of it expires by itself.
  const memory = createMemory(
    'support',
    's1',
    { id: 'ann' },
    { stores, policy: KEEP_EVERYTHING, clock: clock.now },
  );
  const window = await memory.remember({ id: 'old', content: 'x' });
  await memory.storeCapsule(memory.capsuleFromWindow(window, 'of long ago'));
  const held = async () => ({
    messages: (await stores.memory.list(memory.scope, 'message', { order: 'asc', limit: 9 })).items.length,
    capsules: (await stores.memory.list(memory.scope, 'capsule', { order: 'asc', limit: 9 })).items.length,
  });
  expect(await held()).toEqual({ messages: 1, capsules: 1 });

  clock.advanceSecs(300);
  const { run } = await startRun(engine, { agent: 'support', action: prune });
  await work();

  const { items } = await engine.runs.listJobs({ agent: 'support', runId: run.runId, limit: 9 });
  expect(items).toMatchObject([{ sessionId: 's1', ok: true, result: 1 }]);
  expect(await held()).toEqual({ messages: 0, capsules: 0 });
});
