import { DeleteItemCommand, PutItemCommand, ScanCommand } from '@aws-sdk/client-dynamodb';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type EmbeddedDynamoDb, openEmbeddedDynamoDb } from '../../../infra/local/embedded-dynamodb.ts';
import { startExpiry } from '../../../infra/local/expired-rows.ts';
import { sessionsTable, type TableDescriptor, tables } from '../../../lib/dynamodb/tables.ts';

const start = Date.parse('2027-01-01T00:00:00Z');
const nowSecs = start / 1000;
const minuteMs = 60_000;

let database: EmbeddedDynamoDb;
let now = start;
const clock = () => new Date(now);
const sweepers: { close(): Promise<void> }[] = [];

beforeEach(async () => {
  now = start;
  database = await openEmbeddedDynamoDb(undefined);
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
});
afterEach(async () => {
  for (const sweeper of sweepers.splice(0)) await sweeper.close();
  expect(vi.getTimerCount()).toBe(0);
  vi.useRealTimers();
  vi.restoreAllMocks();
  await database.close();
});

function expiring() {
  const sweeper = startExpiry(database, { clock, pageSize: 5 });
  sweepers.push(sweeper);
  return sweeper;
}

const put = (table: TableDescriptor, sk: string, ttl?: number) =>
  database.client.send(
    new PutItemCommand({
      TableName: database.tableName(table),
      Item: { pk: { S: 'p' }, sk: { S: sk }, ...(ttl !== undefined && { ttl: { N: String(ttl) } }) },
    }),
  );

async function kept(table: TableDescriptor): Promise<(string | undefined)[]> {
  const { Items = [] } = await database.client.send(
    new ScanCommand({ TableName: database.tableName(table) }),
  );
  return Items.map(({ sk }) => sk?.S).sort();
}

/** A sweep is over when it has set the timer of the next one. */
const swept = () => vi.waitUntil(() => vi.getTimerCount() === 1, { timeout: 10_000 });

describe('rows whose time to live is over', () => {
  it.each(tables)('are removed at the start, and no others: $id', async (table) => {
    await put(table, 'expired', nowSecs - 1);
    await put(table, 'live', nowSecs + 1);
    await put(table, 'lasting');

    expiring();
    await swept();

    expect(await kept(table)).toEqual(['lasting', 'live']);
  });

  it('are removed over many pages', async () => {
    for (let row = 0; row < 12; row++) await put(sessionsTable, `row-${row}`, nowSecs - 1);
    await put(sessionsTable, 'live', nowSecs + 1);

    expiring();
    await swept();

    expect(await kept(sessionsTable)).toEqual(['live']);
  });

  it('are removed later when they expire later', async () => {
    await put(sessionsTable, 'row', nowSecs + 60);
    expiring();
    await swept();
    now += 2 * minuteMs;

    vi.advanceTimersByTime(5 * minuteMs);
    await swept();

    expect(await kept(sessionsTable)).toEqual([]);
  });

  it('stay when they were written again since they were seen', async () => {
    await put(sessionsTable, 'row', nowSecs - 1);
    const { client } = database;
    const send = client.send.bind(client) as (command: object) => Promise<unknown>;
    let rewritten = false;
    vi.spyOn(client, 'send').mockImplementation(async (command: object) => {
      if (command instanceof DeleteItemCommand && !rewritten) {
        rewritten = true;
        await put(sessionsTable, 'row', nowSecs + 60);
      }
      return send(command);
    });

    expiring();
    await swept();

    expect(rewritten).toBe(true);
    expect(await kept(sessionsTable)).toEqual(['row']);
  });
});

describe('a sweep', () => {
  it('that fails is one line, and the next one comes', async () => {
    await put(sessionsTable, 'row', nowSecs - 1);
    const printed: string[] = [];
    vi.spyOn(console, 'error').mockImplementation((line) => void printed.push(line));
    vi.spyOn(database.client, 'send').mockImplementationOnce(() =>
      Promise.reject(new Error('no space\nleft')),
    );
    expiring();
    await swept();
    expect(printed).toEqual([
      'dormouse: rows that have expired could not be removed, and will be later: no space left',
    ]);

    vi.advanceTimersByTime(5 * minuteMs);
    await swept();

    expect(await kept(sessionsTable)).toEqual([]);
  });

  it('under way is waited for by the end, and no other follows', async () => {
    for (let row = 0; row < 12; row++) await put(sessionsTable, `row-${row}`, nowSecs - 1);
    const sweeper = expiring();

    await sweeper.close();
    const left = await kept(sessionsTable);
    vi.advanceTimersByTime(60 * minuteMs);

    expect(left).not.toEqual([]);
    expect(vi.getTimerCount()).toBe(0);
    expect(await kept(sessionsTable)).toEqual(left);
  });
});
