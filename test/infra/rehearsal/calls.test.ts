import { expect, test } from 'vitest';
import type { AwsCalls } from '../../../infra/rehearsal/aws-calls.ts';
import { accessKeyOf, countRequests, recordedCalls } from '../../../infra/rehearsal/calls.ts';

interface Call {
  readonly EventName: string;
  readonly time: number;
  readonly table?: string;
  readonly request?: object;
  readonly source?: string;
}

/** A CloudTrail of the emulator: newest first, 50 at a time, no token for the next page. */
function trailOf(calls: readonly Call[]): AwsCalls {
  const events = calls.map(({ EventName, time, table, request = {}, source = 'dynamodb' }, index) => ({
    EventId: String(index),
    EventName,
    EventSource: `${source}.amazonaws.com`,
    EventTime: time,
    AccessKeyId: 'KEY',
    Resources: table === undefined ? [] : [{ ResourceName: table }],
    CloudTrailEvent: JSON.stringify({ requestParameters: request }),
  }));
  const refuse = () => Promise.reject(new Error('not a call of this test'));
  return {
    query: refuse,
    rest: refuse,
    json: async (_service, _target, input) => {
      const { EndTime = Number.POSITIVE_INFINITY } = input as { EndTime?: number };
      const until = events.filter((event) => event.EventTime <= EndTime);
      return { Events: until.sort((a, b) => b.EventTime - a.EventTime).slice(0, 50) };
    },
  };
}

test('calls of all pages are counted once each', async () => {
  const calls = Array.from({ length: 125 }, (_, time) => ({ EventName: 'GetItem', time, table: 't' }));

  expect(await recordedCalls(trailOf(calls), 'dynamodb')).toEqual([
    { accessKey: 'KEY', action: 'dynamodb:GetItem', resource: 't', count: 125 },
  ]);
});

test('no call at all is no call', async () => {
  expect(await recordedCalls(trailOf([]), 'dynamodb')).toEqual([]);
});

test('a call names its table, its index, or the table of its batch', async () => {
  const trail = trailOf([
    { EventName: 'Query', time: 3, table: 't' },
    { EventName: 'Query', time: 2, table: 't', request: { IndexName: 'by-time' } },
    { EventName: 'BatchGetItem', time: 1, request: { RequestItems: { t: {} } } },
  ]);

  const calls = await recordedCalls(trail, 'dynamodb');

  expect(calls.map(({ resource }) => resource)).toEqual(['t', 't/index/by-time', 't']);
});

test('a call of a secret names it', async () => {
  const request = { SecretId: 'prod/key' };
  const trail = trailOf([{ EventName: 'GetSecretValue', time: 1, request, source: 'secretsmanager' }]);

  expect(await recordedCalls(trail, 'secretsmanager')).toMatchObject([
    { action: 'secretsmanager:GetSecretValue', resource: 'prod/key' },
  ]);
});

test('a call of a queue names it by its URL, and a batch is the action that IAM knows', async () => {
  const request = { QueueUrl: 'http://localhost:4566/000000000000/stack-queue' };
  const trail = trailOf([{ EventName: 'SendMessageBatch', time: 1, request, source: 'sqs' }]);

  expect(await recordedCalls(trail, 'sqs')).toEqual([
    { accessKey: 'KEY', action: 'sqs:SendMessage', resource: 'stack-queue', count: 1 },
  ]);
});

test('requests of a service are counted from the log', () => {
  const log = [
    '2026-12-01 00:12:35 DEBUG [ministack] POST / -> service=dynamodb region=us-east-1',
    '2026-12-01 00:12:35 DEBUG [ministack] POST / -> service=dynamodb-streams region=us-east-1',
    '2026-12-01 00:12:35 INFO [dynamodb] something else',
    '2026-12-01 00:12:36 DEBUG [ministack] POST / -> service=dynamodb region=us-east-1',
  ].join('\n');

  expect(countRequests(log, 'dynamodb')).toBe(2);
});

test('an access key follows from the ARNs of function and role', () => {
  const key = accessKeyOf('arn:function', 'arn:role');

  expect(key).toMatch(/^ASIA[0-9A-F]{16}$/);
  expect(accessKeyOf('arn:function', 'arn:other')).not.toBe(key);
});
