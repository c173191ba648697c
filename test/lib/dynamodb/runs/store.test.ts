import { type AttributeValue, type DynamoDBClient, PutItemCommand } from '@aws-sdk/client-dynamodb';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { jobPageSize } from '../../../../lib/defaults.ts';
import { dynamoDbRuns } from '../../../../lib/dynamodb/dynamodb-runs.ts';
import { dynamoDbSessionStore } from '../../../../lib/dynamodb/sessions/session-store.ts';
import { runsTable } from '../../../../lib/dynamodb/tables.ts';
import { inMemoryStores } from '../../../../lib/in-memory/stores.ts';
import { failedJob, jobOk } from '../../../../lib/lifecycle/jobs.ts';
import { requestedRunId } from '../../../../lib/runs/run-id.ts';
import type { NewRun, ShardPage } from '../../../../lib/runs/run-store.ts';
import { noProgress } from '../../../../lib/runs/shard-progress.ts';
import { startRun } from '../../../../lib/runs/start-run.ts';
import { storedResult } from '../../../../lib/runs/stored-job.ts';
import { type EmbeddedTable, embeddedTable } from '../../../support/embedded-table.ts';
import { engineUnderTest } from '../../../support/engine-under-test.ts';
import { clientWithFate, isWrite } from '../../../support/failing-client.ts';
import { seededRandom } from '../../../support/seeded-random.ts';

describe('runs in DynamoDB', () => {
  let table: EmbeddedTable;

  beforeAll(async () => {
    table = await embeddedTable(runsTable);
  });
  afterAll(() => table.close());

  const engineOver = () => {
    const { client, sent } = clientWithFate(table.client, () => 'pass');
    const under = engineUnderTest(
      { actions: { digest: () => 'fine' } },
      {
        ...dynamoDbRuns({ client, runsTable: table.tableName }),
        stores: { ...inMemoryStores(), sessions: dynamoDbSessionStore(table.client, table.tableName) },
      },
    );
    return { ...under, sent };
  };

  test('a shard costs four writes: claim, lease, its jobs as one page of less than two kilobytes, totals', async () => {
    const { register, work, engine, sent } = engineOver();
    await register(300);
    const { run } = await startRun(engine, { agent: 'support', action: 'digest' });

    await work();

    const writes = sent.filter(isWrite);
    // Record, lease, admission and mark; a claim, a renewal of the lease, a page and an addition for each shard; the end, the lease.
    expect(writes.length).toBe(4 + 16 * 4 + 2);
    const pages = (await table.rows()).filter(({ sk }) => sk?.S?.startsWith('page/'));
    expect(pages).toHaveLength(16);
    for (const { body, ttl } of pages) {
      expect(body?.B?.length).toBeLessThan(1_000);
      expect(Number(ttl?.N)).toBeGreaterThan(Date.now() / 1000 + 89 * 86_400);
    }
    expect(await engine.runs.get(run)).toMatchObject({ status: 'completed', sessions: 300 });
  });

  test('what a run is decided by is read consistently: records, claims and leases', async () => {
    const { register, work, engine, sent } = engineOver();
    await register(3);
    const request = { agent: 'support', action: 'digest' };
    const { run } = await startRun(engine, request);
    await startRun(engine, request);
    await work();
    const shard = { agent: run.agent, runId: run.runId, shard: 0 };
    await engine.runs.claimShard(shard, { dispatchId: 'one', handOvers: 0 });
    await engine.runs.claimShard(shard, { dispatchId: 'another', handOvers: 0 });

    const reads = sent.filter(({ name }) => name === 'GetItemCommand');
    expect(reads.length).toBeGreaterThan(2);
    for (const { input } of reads) expect(input).toMatchObject({ ConsistentRead: true });
  });

  test('every item expires, and only runs are in the index', async () => {
    const items = (await table.rows()).filter(({ pk }) => !pk?.S?.startsWith('sessions/'));

    expect(items.length).toBeGreaterThan(30);
    expect(items.filter(({ ttl }) => ttl?.N === undefined)).toEqual([]);
    const indexed = items.filter(({ actionRun }) => actionRun !== undefined);
    expect(indexed.length).toBeGreaterThan(0);
    expect(indexed.filter(({ pk }) => !pk?.S?.startsWith('runs/'))).toEqual([]);
  });

  test('an action whose name makes no key is refused, not taken for a table that is away', async () => {
    const list = engineOver().engine.runs.list({ agent: 'support', action: '%'.repeat(400), limit: 1 });

    await expect(list).rejects.toMatchObject({ code: 'invalid_key' });
  });

  test('a damaged page is corrupt, never a shard that has not begun or a run without jobs', async () => {
    const { engine } = engineOver();
    const [key] = (await table.rows()).filter(({ sk }) => sk?.S?.startsWith('page/'));
    if (key === undefined) throw new Error('there is no page');
    const [, agent = '', runId = ''] = /^run\/([^~]+)~([^/]+)/.exec(key.pk?.S ?? '') ?? [];
    const shard = { agent, runId, shard: Number(key.pk?.S?.split('/').at(-1)) };
    const damage = async (changes: Record<string, AttributeValue>) =>
      table.client.send(new PutItemCommand({ TableName: table.tableName, Item: { ...key, ...changes } }));

    await damage({ body: { B: Buffer.from('other') } });
    await expect(engine.runs.listJobs({ agent, runId, limit: 1000 })).rejects.toMatchObject({
      code: 'corrupt',
    });
    await damage({ v: { N: '2' } });
    await expect(engine.runs.progress(shard)).rejects.toMatchObject({ code: 'corrupt' });
    await damage({});
    expect((await engine.runs.progress(shard)).pages).toBe(1);
  });

  test('a damaged record or lease is corrupt, never a run or a holder that is not there', async () => {
    const { engine } = engineOver();
    await engine.leases.acquire('support', 'damaged', { runId: 'r', until: new Date(2e12) }, new Date(0));
    const put = (item: Record<string, AttributeValue>) =>
      table.client.send(new PutItemCommand({ TableName: table.tableName, Item: item }));
    const rows = await table.rows();
    const record = rows.find(({ runStatus }) => runStatus !== undefined);
    const lease = rows.find(({ pk }) => pk?.S?.startsWith('lease/') && pk.S.includes('damaged'));
    if (record === undefined || lease === undefined) throw new Error('there is no record, or no lease');

    const run = { agent: 'support', runId: record.sk?.S?.replace(/^.*[/]/, '') ?? '' };
    const other: Record<string, AttributeValue> = {
      ...{ v: { N: '2' }, actionName: { N: '1' }, startedAt: { S: 'today' }, okJobs: { N: '0.5' } },
      ...{ startedBy: { S: 'nobody' }, runStatus: { S: 'lost' }, onOverlap: { S: 'queue' } },
    };
    for (const [name, value] of Object.entries(other)) {
      await put({ ...record, [name]: value });
      await expect(engine.runs.get(run), name).rejects.toMatchObject({ code: 'corrupt' });
    }
    for (const name of ['heldUntil', 'runId']) {
      const { [name]: _gone, ...rest } = lease;
      await put(rest);
      await expect(engine.leases.holder('support', 'damaged'), name).rejects.toMatchObject({
        code: 'corrupt',
      });
    }
  });
});

describe('a write whose answer was lost, and that is sent again', () => {
  let table: EmbeddedTable;
  let runs: number;
  beforeAll(async () => {
    table = await embeddedTable(runsTable);
    runs = 0;
  });
  afterAll(() => table.close());

  const others = () => dynamoDbRuns({ client: table.client, runsTable: table.tableName });
  /** Every write is applied twice, as by an SDK that got no answer; `meanwhile` others go on. */
  const twice = (meanwhile: () => Promise<unknown>) => {
    const send = async (command: PutItemCommand) => {
      if (!/^(Put|Update|Delete)Item/.test(command.constructor.name)) return table.client.send(command);
      await table.client.send(command).catch(() => {});
      await meanwhile();
      return table.client.send(command);
    };
    return dynamoDbRuns({ client: { send } as unknown as DynamoDBClient, runsTable: table.tableName });
  };
  const newRun = (): NewRun => ({
    ...{ agent: `agent-${++runs}`, runId: requestedRunId(new Date(0), `run-${runs}`), action: 'digest' },
    ...{ trigger: 'request', startedAt: new Date(0), overlap: 'skip', pending: [0, 3] },
  });
  const page = (writer: string, ...ids: string[]): ShardPage => ({
    ...{ jobs: ids.map((id) => jobOk(id, 'digest')), cursor: ids.at(-1), done: false, unrecorded: 0, writer },
  });

  test('commits its page, also when the pages after it are there by then', async () => {
    const shard = { ...(await others().runs.create(newRun())).run, shard: 0 };
    const next = await others()
      .runs.commitPage(shard, noProgress, page('other', 'a'))
      .then(() => undefined);
    expect(next).toBeUndefined();
    const before = await others().runs.progress(shard);
    const { runs: store } = twice(async () => {
      const last = await others().runs.progress(shard);
      await others().runs.commitPage(shard, last, page('follower', 'z'));
    });

    const progress = await store.commitPage(shard, before, page('own', 'b'));

    expect(progress).toMatchObject({ pages: 2, sessions: 2, cursor: 'b' });
    expect(await others().runs.progress(shard)).toMatchObject({ pages: 3, sessions: 3, cursor: 'z' });
  });

  test('creates its run, and is not taken for the repetition of its own tick', async () => {
    const run = newRun();

    const { created } = await twice(() => others().runs.markDispatched(run)).runs.create(run);

    expect(created).toBe(true);
    expect((await others().runs.create(run)).created).toBe(false);
  });

  test('adds the totals of its shard once, also when the other shard has ended the run by then', async () => {
    const { run } = await others().runs.create(newRun());
    const done = (ok: number) => ({ ...noProgress, pages: 1, done: true, sessions: ok, ok });
    const { runs: store } = twice(() =>
      others().runs.finishShard({ ...run, shard: 3 }, done(2), new Date(5)),
    );

    const ended = await store.finishShard({ ...run, shard: 0 }, done(1), new Date(9));

    expect(ended).toMatchObject({ status: 'completed', sessions: 3, finishedAt: new Date(5) });
  });

  test('ends its run as it said, though another end was tried meanwhile', async () => {
    const { run } = await others().runs.create(newRun());
    const at = new Date(5);
    const { runs: store } = twice(() => others().runs.end(run, { status: 'failed', reason: 'other', at }));

    const ended = await store.end(run, { status: 'skipped', reason: 'own', at });

    expect(ended).toMatchObject({ status: 'skipped', reason: 'own' });
  });

  test('claims its shard, and hands it on by one, whoever asks for it meanwhile', async () => {
    const { run } = await others().runs.create(newRun());
    const [shard, own] = [
      { ...run, shard: 0 },
      { dispatchId: 'own', handOvers: 0 },
    ];

    const claiming = twice(() => others().runs.claimShard(shard, { dispatchId: 'other', handOvers: 0 }));
    expect(await claiming.runs.claimShard(shard, own)).toEqual(own);
    await twice(() => others().runs.handOver(shard, { dispatchId: 'own', handOvers: 1 })).runs.handOver(
      shard,
      own,
    );

    expect(await others().runs.claimShard(shard, own)).toEqual({ dispatchId: 'own', handOvers: 2 });
  });

  test('takes its lease; late, after the run has given it back, it keeps no other run from it for long', async () => {
    const { engine, register, work } = engineUnderTest(
      { actions: { digest: () => 'fine' } },
      dynamoDbRuns({ client: table.client, runsTable: table.tableName }),
    );
    await register(3);
    const { run } = await startRun(engine, { agent: 'support', action: 'digest' });
    await work();
    const late = { runId: run.runId, until: new Date(engine.clock().getTime() + 7_200_000) };
    await others().leases.acquire('support', 'digest', late, engine.clock());

    expect(await startRun(engine, { agent: 'support', action: 'digest' })).toMatchObject({
      status: 'started',
    });
    const lease = { runId: 'own', until: new Date(60_000) };
    const { leases } = twice(() =>
      others().leases.acquire('x', 'digest', { runId: 'other', until: new Date(90_000) }, new Date(1)),
    );
    expect(await leases.acquire('x', 'digest', lease, new Date(0))).toEqual(lease);
  });

  test('a lease that changes hands at every look ends in an error that may be tried again, not in a loop', async () => {
    let asked = 0;
    const send = async (command: { constructor: { name: string } }) => {
      asked++;
      if (command.constructor.name.startsWith('Update'))
        throw Object.assign(new Error('no'), { name: 'ConditionalCheckFailedException' });
      return {};
    };
    const { leases } = dynamoDbRuns({ client: { send } as unknown as DynamoDBClient, runsTable: 'runs' });

    const acquired = leases.acquire('a', 'digest', { runId: 'own', until: new Date(9) }, new Date(0));

    await expect(acquired).rejects.toMatchObject({ code: 'unavailable', retryable: true });
    expect(asked).toBeLessThan(50);
  });
});

test('the largest page of jobs fits into one item, whatever its sessions, results and reasons are made of', async () => {
  const { client, sent } = clientWithFate({ send: async () => ({}) } as never, () => 'pass');
  const { runs } = dynamoDbRuns({ client, runsTable: 'runs' });
  const random = seededRandom(7);
  const text = (chars: number, from: number, to: number) =>
    Array.from({ length: chars }, () => String.fromCharCode(from + Math.floor(random() * (to - from)))).join(
      '',
    );
  const alphabets = [
    { id: () => text(512, 1, 32), result: () => text(5_000, 1, 32), reason: () => text(500, 0, 32) },
    {
      id: () => text(170, 0x4e00, 0x9fff),
      result: () => text(5_000, 0x800, 0xd7ff),
      reason: () => text(500, 0x800, 0xd7ff),
    },
    { id: () => text(512, 33, 127), result: () => text(5_000, 33, 127), reason: () => text(500, 33, 127) },
  ];

  for (const { id, result, reason } of alphabets) {
    const jobs = Array.from({ length: jobPageSize }, (_, index) =>
      index % 2 === 0
        ? jobOk(id(), text(512, 33, 127), storedResult({ text: result() }))
        : failedJob(id(), text(512, 33, 127), new Error(reason())),
    );
    const page = { jobs, cursor: id(), done: false, unrecorded: 0, writer: 'w' };
    await runs.commitPage({ agent: 'a'.repeat(128), runId: 'r', shard: 1 }, noProgress, page);
  }

  const items = sent.map(({ input }) => (input as { Item: Record<string, AttributeValue> }).Item);
  expect(items).toHaveLength(alphabets.length);
  for (const { body } of items) expect(body?.B?.length).toBeLessThan(380_000);
});
