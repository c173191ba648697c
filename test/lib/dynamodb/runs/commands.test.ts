import {
  type AttributeValue,
  DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
  QueryCommand,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb';
import { mockClient } from 'aws-sdk-client-mock';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { raceAttempts } from '../../../../lib/defaults.ts';
import { dynamoDbRuns } from '../../../../lib/dynamodb/dynamodb-runs.ts';
import { jobOk } from '../../../../lib/lifecycle/jobs.ts';
import { requestedRunId } from '../../../../lib/runs/run-id.ts';
import type { NewRun } from '../../../../lib/runs/run-store.ts';
import { noProgress } from '../../../../lib/runs/shard-progress.ts';
import { sdkError } from '../../../support/failing-client.ts';

type Row = Record<string, AttributeValue>;

const at = new Date('2027-01-01T00:00:00.250Z');
const dynamoDb = mockClient(DynamoDBClient);
// It stands in for every client of the process.
afterAll(() => dynamoDb.restore());
const { runs, leases } = dynamoDbRuns({
  ...{ client: new DynamoDBClient({ region: 'eu-central-1' }), runsTable: 'T', clock: () => at },
});
beforeEach(() => {
  dynamoDb.reset();
});

const ref = { agent: 'a/b', runId: requestedRunId(at, 'r') };
const shard = { ...ref, shard: 3 };
const run: NewRun = {
  ...{ ...ref, action: 'digest', trigger: 'request', startedAt: at, overlap: 'skip' },
  pending: [10, 9, 1],
};
const page = { jobs: [jobOk('s1', 'digest')], cursor: 's1', done: false, unrecorded: 0, writer: 'w' };
const queries = () => dynamoDb.commandCalls(QueryCommand).map((call) => call.args[0].input);
const pages = () => dynamoDb.commandCalls(PutItemCommand).map((call) => call.args[0].input.Item ?? {});
/** A page of one job, as it is stored. */
const storedPage = async (): Promise<Row> => {
  dynamoDb.on(PutItemCommand).resolves({});
  await runs.commitPage(shard, noProgress, page);
  return pages().at(-1) ?? {};
};
const storedRun = async (): Promise<Row> => {
  dynamoDb.on(PutItemCommand).resolves({});
  await runs.create(run);
  return pages().at(-1) ?? {};
};
const without = (row: Row, name: string): Row =>
  Object.fromEntries(Object.entries(row).filter(([one]) => one !== name));

test.each(['AccessDeniedException', 'ThrottlingException'])(
  '%s is unavailable on every call, after one request',
  async (name) => {
    for (const call of [
      () => runs.create(run),
      () => runs.get(ref),
      () => runs.list({ agent: 'a', limit: 1 }),
      () => runs.admit(ref),
      () => runs.markDispatched(ref),
      () => runs.end(ref, { status: 'completed', at }),
      () => runs.claimShard(shard, { dispatchId: 't', handOvers: 0 }),
      () => runs.handOver(shard, { dispatchId: 't', handOvers: 0 }),
      () => runs.progress(shard),
      () => runs.commitPage(shard, noProgress, page),
      () => runs.finishShard(shard, noProgress, at),
      () => runs.listJobs({ ...ref, limit: 1 }),
      () => leases.holder('a', 'digest'),
      () => leases.acquire('a', 'digest', { runId: 'r', until: at }, at),
      () => leases.release('a', 'digest', 'r'),
      () => leases.enter('a', 'r', 1),
      () => leases.leave('a', ['r']),
    ]) {
      dynamoDb.reset();
      dynamoDb.onAnyCommand().rejects(sdkError(name));

      await expect(call(), call.toString()).rejects.toMatchObject({ code: 'unavailable' });
      expect(dynamoDb.calls()).toHaveLength(1);
    }
  },
);

describe('a run', () => {
  test('is there with what it has left to do in order', async () => {
    const Item = await storedRun();
    dynamoDb.on(GetItemCommand).resolves({ Item });

    expect((await runs.get(ref))?.pending).toEqual([1, 9, 10]);
    dynamoDb.on(GetItemCommand).resolves({ Item: without(Item, 'pending') });
    expect((await runs.get(ref))?.pending).toEqual([]);
  });

  test.each(['v', 'sk', 'actionName', 'startedBy', 'runStatus', 'startedAt', 'onOverlap'])(
    'that has lost its %s is corrupt',
    async (name) => {
      dynamoDb.on(GetItemCommand).resolves({ Item: without(await storedRun(), name) });

      await expect(runs.get(ref)).rejects.toMatchObject({ code: 'corrupt' });
    },
  );

  test.each([
    [undefined, undefined, 'sk', 'run/'],
    ['digest', 'byAction', 'actionRun', 'digest/'],
  ])(
    'is listed by %s, read consistently from the end, on over empty pages',
    async (action, index, by, prefix) => {
      const next = { pk: { S: 'runs/a%2Fb' }, sk: { S: 'run/x' } };
      const Item = await storedRun();
      dynamoDb
        .on(QueryCommand)
        .resolvesOnce({ LastEvaluatedKey: next })
        .resolvesOnce({ Items: [Item, Item], LastEvaluatedKey: next })
        .resolves({ Items: [Item], LastEvaluatedKey: next });

      const found = await runs.list({ agent: 'a/b', action, limit: 2, after: ref.runId });

      expect(found).toMatchObject({ items: [{ runId: ref.runId }, {}], next: ref.runId });
      expect(queries().map(({ Limit }) => Limit)).toEqual([3, 3, 1]);
      const place = { pk: { S: 'runs/a%2Fb' }, sk: { S: `run/${ref.runId}` } };
      expect(queries().map(({ ExclusiveStartKey }) => ExclusiveStartKey)).toEqual([
        action === undefined ? place : { ...place, actionRun: { S: `digest/${ref.runId}` } },
        ...[next, next],
      ]);
      for (const query of queries()) {
        expect(query).toMatchObject({ ConsistentRead: true, ScanIndexForward: false });
        expect(query.IndexName === undefined).toBe(index === undefined);
        expect(query.KeyConditionExpression).toBe(`pk = :v0 AND begins_with(${by}, :v1)`);
        expect(query.ExpressionAttributeValues).toEqual({ ':v0': { S: 'runs/a%2Fb' }, ':v1': { S: prefix } });
      }
    },
  );

  test('list ends at an empty key', async () => {
    dynamoDb.on(QueryCommand).resolves({ Items: [], LastEvaluatedKey: {} });

    expect(await runs.list({ agent: 'a', limit: 2 })).toEqual({ items: [], next: undefined });
    expect(queries()).toHaveLength(1);
  });
});

describe('a page of jobs', () => {
  test('that is the last one tells where the shard is, and none that it has not begun', async () => {
    const item = await storedPage();
    dynamoDb
      .on(QueryCommand)
      .resolvesOnce({})
      .resolves({ Items: [item] });

    expect(await runs.progress(shard)).toEqual(noProgress);
    expect(await runs.progress(shard)).toMatchObject({ pages: 1, sessions: 1, cursor: 's1', done: false });
    expect(queries()[0]).toMatchObject({ ConsistentRead: true, ScanIndexForward: false, Limit: 1 });
  });

  test.each(['v', 'sk', 'done'])('that has lost its %s is corrupt', async (name) => {
    dynamoDb.on(QueryCommand).resolves({ Items: [without(await storedPage(), name)] });

    await expect(runs.progress(shard)).rejects.toMatchObject({ code: 'corrupt' });
  });

  test.each(['okJobs', 'failedJobs', 'unrecorded'])('whose %s are no number is corrupt', async (name) => {
    dynamoDb.on(QueryCommand).resolves({ Items: [{ ...(await storedPage()), [name]: { N: '0.5' } }] });

    await expect(runs.progress(shard)).rejects.toMatchObject({ code: 'corrupt' });
  });

  test.each(['body', 'info'])('that has lost its %s is corrupt, not empty', async (name) => {
    dynamoDb.on(QueryCommand).resolves({ Items: [without(await storedPage(), name)] });

    await expect(runs.listJobs({ ...ref, limit: 1 })).rejects.toMatchObject({ code: 'corrupt' });
  });

  test('that has lost its checksum is corrupt', async () => {
    const item = await storedPage();
    const info = { M: without(item.info?.M ?? {}, 'checksum') };
    dynamoDb.on(QueryCommand).resolves({ Items: [{ ...item, info }] });

    await expect(runs.listJobs({ ...ref, limit: 1 })).rejects.toMatchObject({ code: 'corrupt' });
  });

  test.each([
    [{ limit: 9 }, 1, undefined],
    [{ limit: 10 }, 10, undefined],
    [{ limit: 9, ok: true }, undefined, 'okHere > :v2'],
    [{ limit: 9, ok: false }, undefined, 'failedHere > :v2'],
  ])(
    'is read with as many as are needed, and only where it may hold what is wanted: %o',
    async (query, limit, filter) => {
      const next = { pk: { S: 'x' }, sk: { S: 'page/000000000' } };
      dynamoDb
        .on(QueryCommand)
        .resolvesOnce({ LastEvaluatedKey: next })
        .resolves({ Items: [], LastEvaluatedKey: {} });

      expect(await runs.listJobs({ ...ref, ...query })).toEqual({ items: [], next: undefined });

      // Each of the 16 shards, and the first of them a second time.
      expect(queries()).toHaveLength(17);
      expect(queries()[1]?.ExclusiveStartKey).toEqual(next);
      for (const one of queries()) {
        expect(one.ConsistentRead).toBe(true);
        expect([one.Limit, one.FilterExpression]).toEqual([limit, filter]);
      }
    },
  );
});

test('places that change hands at every look end in an error that may be tried again, not in a loop', async () => {
  dynamoDb.on(UpdateItemCommand).rejects(sdkError('ConditionalCheckFailedException'));
  dynamoDb.on(GetItemCommand).resolves({});

  await expect(leases.enter('a', 'r', 1)).rejects.toMatchObject({ code: 'unavailable' });

  expect(dynamoDb.commandCalls(UpdateItemCommand)).toHaveLength(raceAttempts);
  expect(dynamoDb.commandCalls(GetItemCommand)[0]?.args[0].input.ConsistentRead).toBe(true);
});

test('places that are taken are told, and leaving where nobody has been is nothing', async () => {
  dynamoDb.on(UpdateItemCommand).rejects(sdkError('ConditionalCheckFailedException'));
  dynamoDb.on(GetItemCommand).resolves({ Item: { runIds: { SS: ['one', 'other'] } } });

  expect(await leases.enter('a', 'r', 2)).toEqual(['one', 'other']);
  await leases.leave('a', ['r']);

  expect(dynamoDb.commandCalls(UpdateItemCommand)).toHaveLength(2);
});
