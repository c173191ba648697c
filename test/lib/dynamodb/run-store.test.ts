import { type AttributeValue, PutItemCommand } from '@aws-sdk/client-dynamodb';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { jobPageSize } from '../../../lib/defaults.ts';
import { dynamoDbRuns } from '../../../lib/dynamodb/dynamodb-runs.ts';
import { dynamoDbSessionStore } from '../../../lib/dynamodb/session-store.ts';
import { runsTable } from '../../../lib/dynamodb/tables.ts';
import { failedJob, jobOk } from '../../../lib/lifecycle/jobs.ts';
import { noProgress } from '../../../lib/runs/shard-progress.ts';
import { startRun } from '../../../lib/runs/start-run.ts';
import { storedResult } from '../../../lib/runs/stored-job.ts';
import { inMemoryStores } from '../../../lib/sessions/in-memory-stores.ts';
import { type EmbeddedTable, embeddedTable } from '../../support/embedded-table.ts';
import { engineUnderTest } from '../../support/engine-under-test.ts';
import { clientWithFate, isWrite } from '../../support/failing-client.ts';
import { seededRandom } from '../../support/seeded-random.ts';

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
    // Record, lease and mark; a claim, a renewal of the lease, a page and an addition for each shard; the end, the lease.
    expect(writes.length).toBe(3 + 16 * 4 + 2);
    const pages = (await table.rows()).filter(({ sk }) => sk?.S?.startsWith('page/'));
    expect(pages).toHaveLength(16);
    for (const { body, ttl } of pages) {
      expect(body?.B?.length).toBeLessThan(1_000);
      expect(Number(ttl?.N)).toBeGreaterThan(Date.now() / 1000 + 89 * 86_400);
    }
    expect(await engine.runs.get(run)).toMatchObject({ status: 'completed', sessions: 300 });
  });

  test('every item expires, and only runs are in the index', async () => {
    const items = (await table.rows()).filter(({ pk }) => !pk?.S?.startsWith('sessions/'));

    expect(items.length).toBeGreaterThan(30);
    expect(items.filter(({ ttl }) => ttl?.N === undefined)).toEqual([]);
    const indexed = items.filter(({ actionRun }) => actionRun !== undefined);
    expect(indexed.every(({ pk }) => pk?.S?.startsWith('runs/'))).toBe(true);
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
