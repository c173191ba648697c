import { ChangeMessageVisibilityCommand, SendMessageBatchCommand, SQSClient } from '@aws-sdk/client-sqs';
import { mockClient } from 'aws-sdk-client-mock';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { sessionShards } from '../../../lib/defaults.ts';
import { UnavailableError } from '../../../lib/errors.ts';
import { requestedRunId } from '../../../lib/runs/run-id.ts';
import { formatRunMessage, parseRunMessage, type RunMessage } from '../../../lib/runs/run-message.ts';
import { startRun } from '../../../lib/runs/start-run.ts';
import { sqsRunQueue } from '../../../lib/sqs/sqs-run-queue.ts';
import { engineUnderTest } from '../../support/engine-under-test.ts';
import { sdkError } from '../../support/failing-client.ts';

const queueUrl = 'https://sqs.eu-central-1.amazonaws.com/1/runs';
const sqs = mockClient(SQSClient);
// It stands in for every client of the process.
afterAll(() => sqs.restore());
const queue = sqsRunQueue({ queueUrl, client: new SQSClient({ region: 'eu-central-1' }) });
const runId = requestedRunId(new Date('2027-01-01T00:00:00Z'), 'u');
const message = (shard: number, agent = 'support'): RunMessage => {
  return { v: 1, agent, runId, shard, dispatchId: 't', handOvers: 0 };
};
const messages = Array.from({ length: sessionShards }, (_, shard) => message(shard));

beforeEach(() => {
  sqs.reset();
  sqs.on(SendMessageBatchCommand).resolves({});
});

const requests = () => sqs.commandCalls(SendMessageBatchCommand).map(({ args }) => args[0].input);
/** The shards in each request. */
const shardsSent = () =>
  requests().map(({ Entries = [] }) =>
    Entries.map(({ MessageBody }) => parseRunMessage(MessageBody ?? '').shard),
  );
const upTo = (end: number, start = 0) => Array.from({ length: end - start }, (_, index) => start + index);
const refusing = (Id: string, Code: string, SenderFault = false) => ({
  ...{ Successful: [], Failed: [{ Id, Code, SenderFault }] },
});
const thrownBy = (sending: Promise<void>) => sending.then(() => undefined).catch((error: unknown) => error);

describe('messages of a run', () => {
  test('are sent ten at a time, each under an id of its own', async () => {
    await queue.send(messages);

    expect(shardsSent()).toEqual([upTo(10), upTo(16, 10)]);
    for (const { QueueUrl, Entries = [], ...others } of requests()) {
      expect([QueueUrl, others]).toEqual([queueUrl, {}]);
      expect(new Set(Entries.map(({ Id }) => Id)).size).toBe(Entries.length);
      for (const entry of Entries)
        expect(Object.keys(entry).sort()).toEqual(['Id', 'MessageBody', 'MessageGroupId']);
    }
  });

  test('are one request where there is one of them, and none where there is none', async () => {
    await queue.send([]);
    expect(requests()).toEqual([]);

    await queue.send([message(3)]);
    const MessageGroupId = expect.any(String);
    expect(requests()).toEqual([
      {
        QueueUrl: queueUrl,
        Entries: [{ Id: '0', MessageBody: formatRunMessage(message(3)), MessageGroupId }],
      },
    ]);
  });

  test('come back as they were, whatever a name holds, in characters that SQS takes', async () => {
    const odd = message(1, '"\\\u0000\u001F\u007F\u2028\uFFFD\uFFFE\uFFFF\u{1F980}~support');

    await queue.send([odd]);

    const body = requests()[0]?.Entries?.[0]?.MessageBody ?? '';
    expect(parseRunMessage(body)).toEqual(odd);
    expect(body).toMatch(/^[\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]*$/u);
  });
});

describe('messages in groups, as fair queues have them', () => {
  const groups = () => requests().flatMap(({ Entries = [] }) => Entries.map((entry) => entry.MessageGroupId));

  test('are in one for each tenant and agent, under a name that SQS takes whatever theirs is', async () => {
    for (const agent of ['support', 'acme~support', `${'\uFFFE%/'.repeat(200)}~support`]) {
      await queue.send([message(0, agent), message(1, agent)]);
      await queue.sendLater([message(2, agent)], 900);
    }

    expect(new Set(groups()).size).toBe(3);
    expect(groups().slice(0, 3)).toEqual(Array(3).fill(groups()[0]));
    for (const group of groups()) expect(group).toMatch(/^[0-9a-f]{32}$/);
  });

  test('that are to come later say when', async () => {
    const watch = { seen: '0:1 3:2', looks: 4 };

    await queue.sendLater([{ ...message(0), watch }], 900);

    const [entry] = requests()[0]?.Entries ?? [];
    expect(entry).toMatchObject({ DelaySeconds: 900 });
    expect(parseRunMessage(entry?.MessageBody ?? '')).toEqual({ ...message(0), watch });
  });
});

describe('messages that SQS refuses, of a request that it takes', () => {
  test('are sent once more, they alone', async () => {
    sqs
      .on(SendMessageBatchCommand)
      .resolvesOnce(refusing('7', 'InternalError'))
      .resolvesOnce(refusing('2', 'InternalError'))
      .resolves({});

    await queue.send(messages);

    expect(shardsSent()).toEqual([upTo(10), upTo(16, 10), [7, 12]]);
  });

  test('twice reject, and whoever sent them may try again', async () => {
    sqs.on(SendMessageBatchCommand).resolves(refusing('0', 'ServiceUnavailable'));

    const error = await thrownBy(queue.send([message(4), message(5)]));

    expect(error).toBeInstanceOf(UnavailableError);
    expect(error).toMatchObject({ retryable: true, throttled: false });
    expect(String(error)).toContain('ServiceUnavailable');
    expect(shardsSent()).toEqual([[4, 5], [4]]);
  });

  test.each([
    ['InternalError', false, { retryable: true, throttled: false }],
    ['InternalError', true, { retryable: false, throttled: false }],
    ['RequestThrottled', true, { retryable: true, throttled: true }],
    ['KMS.ThrottlingException', false, { retryable: true, throttled: true }],
    ['InvalidMessageContents', true, { retryable: false, throttled: false }],
    ['AWS.SimpleQueueService.NonExistentQueue', false, { retryable: false, throttled: false }],
  ])('for %s (its sender’s fault: %s) reject as %o', async (code, senderFault, expected) => {
    sqs.on(SendMessageBatchCommand).resolves(refusing('0', code, senderFault));

    expect(await thrownBy(queue.send([message(0)]))).toMatchObject({ code: 'unavailable', ...expected });
    expect(requests()).toHaveLength(expected.retryable ? 2 : 1);
  });

  test('for good reject so, also beside others that were taken the second time', async () => {
    sqs
      .on(SendMessageBatchCommand)
      .resolvesOnce(refusing('0', 'InternalError'))
      .resolvesOnce(refusing('1', 'InvalidMessageContents', true))
      .resolves({});

    expect(await thrownBy(queue.send(messages))).toMatchObject({ retryable: false });
    expect(shardsSent()[2]).toEqual([0]);
  });

  test('under an id that nobody gave are not taken for sent', async () => {
    sqs.on(SendMessageBatchCommand).resolves(refusing('another', 'InternalError'));

    expect(await thrownBy(queue.send([message(0)]))).toBeInstanceOf(UnavailableError);
  });
});

test.each([
  ['RequestThrottled', { retryable: true, throttled: true }],
  ['ThrottlingException', { retryable: true, throttled: true }],
  ['OverLimit', { retryable: true, throttled: true }],
  ['KmsThrottled', { retryable: true, throttled: true }],
  ['InternalError', { retryable: true, throttled: false }],
  ['TimeoutError', { retryable: true, throttled: false }],
  ['ECONNREFUSED', { retryable: true, throttled: false }],
  ['CredentialsProviderError', { retryable: true, throttled: false }],
  ['AccessDenied', { retryable: false, throttled: false }],
  ['AccessDeniedException', { retryable: false, throttled: false }],
  ['QueueDoesNotExist', { retryable: false, throttled: false }],
  ['InvalidAddress', { retryable: false, throttled: false }],
  ['InvalidSecurity', { retryable: false, throttled: false }],
  ['UnsupportedOperation', { retryable: false, throttled: false }],
  ['KmsAccessDenied', { retryable: false, throttled: false }],
  ['KmsDisabled', { retryable: false, throttled: false }],
  ['BatchRequestTooLong', { retryable: false, throttled: false }],
  ['ExpiredTokenException', { retryable: false, throttled: false }],
])('%s of the SDK is unavailable: %o', async (name, expected) => {
  const cause = sdkError(name);
  sqs.on(SendMessageBatchCommand).rejects(cause);

  const error = await thrownBy(queue.send(messages));

  expect(error).toBeInstanceOf(UnavailableError);
  expect(error).toMatchObject({ code: 'unavailable', ...expected, cause });
  expect(String(error)).toContain('SQS');
  expect(requests()).toHaveLength(1);
});

describe('the engine', () => {
  const digest = { agent: 'support', action: 'digest' };
  const start = () => startRun(engineUnderTest({ actions: { digest() {} } }, { queue }).engine, digest);

  test('sends again what was not taken, after a request that failed and after a refusal', async () => {
    sqs
      .on(SendMessageBatchCommand)
      .resolvesOnce({})
      .rejectsOnce(sdkError('RequestThrottled'))
      .resolvesOnce(refusing('3', 'InternalError'))
      .resolvesOnce({})
      .resolvesOnce(refusing('0', 'InternalError'))
      .resolves({});

    expect((await start()).status).toBe('started');
    // Before all else the look at the run that comes later.
    expect(shardsSent()).toEqual([[0], upTo(10), upTo(10), upTo(16, 10), [3], upTo(10), upTo(16, 10)]);
  });

  test('does not send again to a queue that is not there', async () => {
    sqs.on(SendMessageBatchCommand).rejects(sdkError('QueueDoesNotExist'));

    await expect(start()).rejects.toMatchObject({ code: 'unavailable', retryable: false });
    expect(requests()).toHaveLength(1);
  });
});

describe('a delivery that failed', () => {
  test('is asked for again in so many seconds', async () => {
    sqs.on(ChangeMessageVisibilityCommand).resolves({});

    await queue.redeliver('receipt', 30);

    expect(sqs.commandCalls(ChangeMessageVisibilityCommand).map(({ args }) => args[0].input)).toEqual([
      { QueueUrl: queueUrl, ReceiptHandle: 'receipt', VisibilityTimeout: 30 },
    ]);
  });

  test('that SQS does not know any more rejects as any error of SQS', async () => {
    sqs.on(ChangeMessageVisibilityCommand).rejects(sdkError('ReceiptHandleIsInvalid'));

    expect(await thrownBy(queue.redeliver('receipt', 30))).toBeInstanceOf(UnavailableError);
  });
});
