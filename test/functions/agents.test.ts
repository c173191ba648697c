import {
  BedrockRuntimeClient,
  ConverseCommand,
  type ConverseCommandOutput,
  type StopReason,
} from '@aws-sdk/client-bedrock-runtime';
import { mockClient } from 'aws-sdk-client-mock';
import { afterAll, afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import agents from '../../functions/agents.ts';
import { type AgentRuntime, createRuntime, inMemoryStores, runSessionJob } from '../../lib/index.ts';
import { actionHandler } from '../../lib/runs/action-handler.ts';
import { sdkError } from '../support/failing-client.ts';
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

  describe('with a model', () => {
    const bedrock = mockClient(BedrockRuntimeClient);
    afterAll(() => bedrock.restore());
    const converse = () => bedrock.commandCalls(ConverseCommand).map(({ args }) => args[0].input);
    const answer = (text: string, stopReason: StopReason = 'end_turn') =>
      ({
        stopReason,
        output: { message: { role: 'assistant', content: [{ text }] } },
      }) as ConverseCommandOutput;

    beforeEach(async () => {
      bedrock.reset();
      vi.stubEnv('AWS_REGION', 'eu-central-1');
      vi.stubEnv('DORMOUSE_BEDROCK_MODELS', 'eu.amazon.nova-lite-v1:0,amazon.nova-pro-v1:0');
      await remember(201, (index) => `message ${index}`);
      clock.advanceSecs(8 * daySecs);
    });
    afterEach(() => {
      vi.unstubAllEnvs();
    });

    const capsules = async () => (await runtime.memory('chat').listCapsules()).items;

    test('the summary is what the first model of the setting makes of the messages and the summary before', async () => {
      const converseOf = bedrock.on(ConverseCommand);
      converseOf.resolvesOnce(answer('Ann said much.')).resolvesOnce(answer('Ann said more.'));

      expect(await run('compact-stale-sessions')).toMatchObject({ ok: true, result: { messages: 201 } });

      expect((await capsules()).map(({ summary }) => summary)).toEqual(['Ann said much.', 'Ann said more.']);
      expect(converse()).toMatchObject([
        {
          modelId: 'eu.amazon.nova-lite-v1:0',
          system: [{ text: expect.stringContaining('Summarise this conversation') }],
          inferenceConfig: { maxTokens: 1000 },
        },
        { modelId: 'eu.amazon.nova-lite-v1:0' },
      ]);
      const [first = '', second = ''] = converse().map(({ messages }) => messages?.[0]?.content?.[0]?.text);
      expect(first.split('\n')).toHaveLength(200);
      expect(first).toMatch(/^\S+ ann: message 0\n\S+ support: message 1\n/);
      expect(second).toMatch(/^The summary before: Ann said much\.\n\S+ ann: message 200$/);
    });

    test('a long message is cut, and says so', async () => {
      bedrock.on(ConverseCommand).resolves(answer('Much.'));
      await remember(1, () => 'x'.repeat(100_000));
      clock.advanceSecs(8 * daySecs);

      await run('compact-stale-sessions');

      const text = converse().at(-1)?.messages?.[0]?.content?.[0]?.text ?? '';
      expect(text.split('\n').at(-1)).toMatch(/^\S+ ann: x{1900,}…$/);
      expect(text.length).toBeLessThan(3000);
    });

    test('what it refuses, or does not finish, is a failed job that says why, and removes nothing', async () => {
      bedrock.on(ConverseCommand).rejectsOnce(sdkError('ThrottlingException'));
      expect(await run('compact-stale-sessions')).toMatchObject({
        ok: false,
        error: { reason: expect.stringMatching(/no summary from eu\.amazon\.nova-lite-v1:0: Throttling/) },
      });

      bedrock.on(ConverseCommand).resolves(answer('Ann said', 'max_tokens'));
      expect(await run('compact-stale-sessions')).toMatchObject({
        ok: false,
        error: { reason: expect.stringMatching(/no whole summary .* it ended by max_tokens/) },
      });

      expect(await capsules()).toEqual([]);
      expect((await runtime.memory('chat').recent({ limit: 1000 })).items).toHaveLength(201);
    });

    test('nothing is asked where the setting names none', async () => {
      vi.stubEnv('DORMOUSE_BEDROCK_MODELS', undefined);

      expect(await run('compact-stale-sessions')).toMatchObject({ ok: true, result: { messages: 201 } });

      expect(converse()).toEqual([]);
      expect((await capsules())[0]?.summary).toContain('200 messages:');
    });
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
