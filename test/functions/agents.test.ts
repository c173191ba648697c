import { beforeEach, describe, expect, test } from 'vitest';
import agents from '../../functions/agents.ts';
import { type AgentRuntime, createRuntime, inMemoryStores, runSessionJob } from '../../lib/index.ts';
import { actionHandler } from '../../lib/runs/action-handler.ts';
import { type TestClock, testClock } from '../support/test-clock.ts';

const support = agents[0] as (typeof agents)[number];
const fail = (reason: string): never => {
  throw new Error(reason);
};
const daySecs = 24 * 60 * 60;

describe('the support agent', () => {
  let clock: TestClock;
  let runtime: AgentRuntime;

  beforeEach(async () => {
    clock = testClock();
    const stores = inMemoryStores({ clock: clock.now });
    runtime = createRuntime(support.name, { stores, clock: clock.now, policy: support.retention });
    await runtime.registerSession('chat');
  });

  const remember = async (count: number, content: (index: number) => unknown) => {
    for (let start = 0; start < count; start += 100)
      await runtime.memory('chat').remember(
        Array.from({ length: Math.min(100, count - start) }, (_, index) => ({
          content: content(start + index),
          sender: { id: index % 2 ? 'support' : 'ann' },
        })),
      );
  };
  const run = async (action: string) =>
    (
      await runSessionJob(runtime, action, (await actionHandler(support, action)) ?? fail('no such action'))
    )[0];

  test('compacts all that is due, however much has been said, and leaves the rest as it is', async () => {
    await remember(450, (index) => `message ${index}`);
    clock.advanceSecs(8 * daySecs);
    await remember(1, () => 'new');

    expect(await run('compact-stale-sessions')).toMatchObject({ ok: true, result: { messages: 450 } });
    expect(await run('compact-stale-sessions')).toMatchObject({ ok: true, result: null });

    const { items: capsules } = await runtime.memory('chat').listCapsules();
    expect(capsules.map(({ messageIds }) => messageIds.length)).toEqual([200, 200, 50]);
    const summary = String(capsules.at(-1)?.summary);
    for (const part of ['200 messages:', 'ann: message 0\n', '50 messages:', 'support: message 449'])
      expect(summary).toContain(part);
    expect((await runtime.memory('chat').recent()).items.map(({ content }) => content)).toEqual(['new']);
  });

  test('compacts what JSON cannot carry too', async () => {
    await remember(2, (index) => new Map([[1n, index]]));
    clock.advanceSecs(8 * daySecs);

    expect(await run('compact-stale-sessions')).toMatchObject({ ok: true, result: { messages: 2 } });
  });

  test('tells by whom there was something in the last day', async () => {
    expect(await run('daily-digest')).toMatchObject({ ok: true, result: null });

    await remember(3, String);

    const digest = { messages: 3, more: false, senders: ['ann', 'support'] };
    expect(await run('daily-digest')).toMatchObject({ ok: true, result: digest });
    clock.advanceSecs(daySecs + 1);
    expect(await run('daily-digest')).toMatchObject({ ok: true, result: null });
  });
});
