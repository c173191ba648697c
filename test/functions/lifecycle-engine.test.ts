import { SendMessageBatchCommand, SQSClient } from '@aws-sdk/client-sqs';
import { mockClient } from 'aws-sdk-client-mock';
import { afterAll, afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { hashOf, jobLog } from '../../functions/log.ts';
import { runsTable } from '../../lib/dynamodb/tables.ts';
import { environment } from '../../lib/environment.ts';
import { requestedRunId } from '../../lib/runs/run-id.ts';
import type { RunMessage } from '../../lib/runs/run-message.ts';
import { capturedLog } from '../support/captured-log.ts';

afterEach(() => {
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
});

describe('the functions’ own queue', () => {
  const sqs = mockClient(SQSClient);
  afterAll(() => sqs.restore());
  const runId = requestedRunId(new Date(0), 'u');
  const message: RunMessage = { v: 1, agent: 'support', runId, shard: 0, dispatchId: 't', handOvers: 0 };

  /** Each process makes its stores once. */
  const ownStores = async () => {
    vi.resetModules();
    vi.stubEnv('AWS_REGION', 'eu-central-1');
    vi.stubEnv(runsTable.env, 'the-runs');
    const { lifecycleStores } = await import('../../functions/lifecycle-engine.ts');
    const { services } = await import('../../functions/services.ts');
    return lifecycleStores(services());
  };

  beforeEach(() => {
    sqs.reset();
    sqs.on(SendMessageBatchCommand).resolves({});
  });

  test('is the one that the environment names', async () => {
    vi.stubEnv(environment.runQueueUrl, 'https://sqs.eu-central-1.amazonaws.com/1/runs');
    const { queue } = await ownStores();

    await queue.send([message]);

    expect(sqs.commandCalls(SendMessageBatchCommand).map(({ args }) => args[0].input.QueueUrl)).toEqual([
      'https://sqs.eu-central-1.amazonaws.com/1/runs',
    ]);
  });

  test('is needed by those who send only, and the variable that is missing is named', async () => {
    vi.stubEnv(environment.runQueueUrl, '');
    const { queue } = await ownStores();

    await expect(queue.send([message])).rejects.toThrow(
      'the environment variable DORMOUSE_RUN_QUEUE_URL is not set',
    );
  });
});

describe('the log of the engine and of handlers', () => {
  test('names agents and runs, and of tenants and sessions the hashes that requests are logged with', () => {
    const lines = capturedLog();
    const log = jobLog();

    log.info('one', { agent: 'acme~support', runId: 'r', sessions: 3 });
    log.warn('two', { sessionId: 'chat-of-ann', note: 'kept' });
    log.error('three', { agent: 'support' });
    log.info('four');

    const logged = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(logged).toMatchObject([
      {
        level: 'INFO',
        message: 'one',
        agent: 'support',
        tenantHash: hashOf('acme'),
        runId: 'r',
        sessions: 3,
      },
      { level: 'WARN', message: 'two', sessionHash: expect.stringMatching(/^[0-9a-f]{16}$/), note: 'kept' },
      { level: 'ERROR', message: 'three', agent: 'support' },
      { level: 'INFO', message: 'four' },
    ]);
    expect(logged[2]).not.toHaveProperty('tenantHash');
    expect(lines.join()).not.toMatch(/acme|ann/);
  });
});
