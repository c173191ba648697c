import { type AttributeValue, type DynamoDBClient, PutItemCommand } from '@aws-sdk/client-dynamodb';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { raceAttempts } from '../../../../lib/defaults.ts';
import { dynamoDbMemoryStore } from '../../../../lib/dynamodb/memory/store.ts';
import { sessionsTable } from '../../../../lib/dynamodb/tables.ts';
import { type EmbeddedTable, embeddedTable } from '../../../support/embedded-table.ts';
import { sdkError } from '../../../support/failing-client.ts';
import { testClock } from '../../../support/test-clock.ts';

/* What a forget does with what calls under way have announced: each state that the item of an announced key can have. */

type Row = Record<string, AttributeValue>;

const clock = testClock();
const now = clock.now().getTime();
const inADay = String(now + 86_400_000 - 250);
/** The number of the forget: the session's clock is at 10 before it. */
const horizon = 11;
let table: EmbeddedTable;
let sessions = 0;
let scope: { agent: string; session: string };
beforeAll(async () => {
  table = await embeddedTable(sessionsTable);
});
afterAll(() => table.close());
beforeEach(() => {
  scope = { agent: 'agent', session: `s${++sessions}` };
});

const storeOver = (client: DynamoDBClient = table.client) =>
  dynamoDbMemoryStore({ client, tableName: table.tableName, clock: clock.now });
const pk = () => ({ S: `memory/agent~${scope.session}` });
const put = (sk: string, row: Row) =>
  table.client.send(
    new PutItemCommand({ TableName: table.tableName, Item: { pk: pk(), sk: { S: sk }, ...row } }),
  );
/** As calls under way leave them in the session's clock. */
const announce = (...keys: string[]) => {
  const intent = { M: { keys: { SS: keys }, turn: { N: '1' }, at: { N: '1' } } };
  return put('arrivals', { arrivals: { N: '10' }, forgets: { N: '0' }, w_other_0: intent });
};
const rows = async () => (await table.rows()).filter((row) => row.pk?.S === pk().S);
const rowAt = async (key: string) => (await rows()).find(({ sk }) => sk?.S === key);

const marker = (fence: number, until: number): Row => ({
  ...{ fence: { N: String(fence) }, fencedUntil: { N: String(until) } },
  gone: { M: { arrival: { N: '3' } } },
});
const place = { S: 'message/101798761600250.000000000000001' };
const info = (expiresAt: number): Row => ({ info: { M: { expiresAt: { N: String(expiresAt) } } } });
const limbo: Row = { place: { S: 'limbo/000000000000001' }, sets: { SS: ['E.1.1'] } };

describe('a key that a call under way has announced', () => {
  test.each<[string, string, Row | undefined, 'fenced' | 'fenced, not to expire' | 'left']>([
    ['that holds nothing', 'message/m', undefined, 'fenced'],
    ['of a capsule that holds nothing', 'capsule/k', undefined, 'fenced'],
    ['of a record that is there', 'message/m', { place, ...info(now + 1) }, 'left'],
    ['of a record that has expired', 'message/m', { place, ...info(now) }, 'fenced, not to expire'],
    ['of a record whose rows are being written', 'message/m', limbo, 'fenced, not to expire'],
    ['that this forget has fenced', 'message/m', marker(horizon, now + 1), 'left'],
    ['that a forget before it has fenced', 'message/m', marker(horizon - 1, now + 1), 'fenced'],
    ['whose fence is over', 'message/m', marker(horizon, now), 'fenced'],
    ['of a compacted record', 'message/m', marker(Number.MAX_SAFE_INTEGER, now + 1), 'left'],
    ['of a value of the session that is there', 'lineage/k', info(1), 'left'],
    ['of a value of the session that is not', 'lineage/k', undefined, 'fenced'],
  ])('%s (%s)', async (_, key, row, outcome) => {
    await announce(key);
    if (row !== undefined) await put(key, row);
    const before = await rowAt(key);

    await storeOver().beginForget(scope);

    const after = await rowAt(key);
    if (outcome === 'left') return expect(after).toEqual(before);
    const ttl = outcome === 'fenced' ? { ttl: { N: String(Math.floor(now / 1000) + 86_400) } } : {};
    const fence = { fence: { N: String(horizon) }, fencedUntil: { N: inADay } };
    expect(after).toEqual({ pk: pk(), sk: { S: key }, ...before, ...fence, ...ttl });
  });

  test('of a user is fenced by a forget of the whole session only', async () => {
    await announce('user/ann/k');

    await storeOver().beginForget(scope);
    expect(await rowAt('user/ann/k')).toBeUndefined();
    await storeOver().forgetScope(scope);

    expect(await rowAt('user/ann/k')).toMatchObject({ fence: { N: String(horizon + 1) } });
  });
});

/** A store before whose fences something happens, and how many it sent. */
const fencing = (before: () => Promise<unknown>) => {
  let fences = 0;
  const send = async (command: { input: { UpdateExpression?: string } }) => {
    if (command.input.UpdateExpression?.startsWith('SET fence')) {
      fences++;
      await before();
    }
    return table.client.send(command as never);
  };
  return { store: storeOver({ send } as unknown as DynamoDBClient), fences: () => fences };
};

test('a record that is stored before its key is fenced stays, as one that was there', async () => {
  await announce('message/m');
  const { store, fences } = fencing(() => put('message/m', { place, ...info(now + 1) }));

  await store.beginForget(scope);

  expect(fences()).toBe(1);
  expect(await rowAt('message/m')).not.toHaveProperty('fence');
});

test.each([
  ['ConditionalCheckFailedException', raceAttempts],
  ['AccessDeniedException', 1],
])('a fence that fails with %s is sent %i times, and the forget fails', async (name, times) => {
  await announce('message/m');
  const { store, fences } = fencing(() => Promise.reject(sdkError(name)));

  await expect(store.beginForget(scope)).rejects.toMatchObject({ code: 'unavailable' });

  expect(fences()).toBe(times);
});

test('a clock that holds no number is corrupt, not a session of which nothing is known', async () => {
  await put('arrivals', { arrivals: { N: '0.5' }, forgets: { N: '0' } });

  await expect(storeOver().moment(scope)).rejects.toMatchObject({ code: 'corrupt' });
});
