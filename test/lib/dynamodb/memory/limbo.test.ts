import {
  type AttributeValue,
  type DynamoDBClient,
  PutItemCommand,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { abandonedAfterMs } from '../../../../lib/defaults.ts';
import { dynamoDbMemoryStore } from '../../../../lib/dynamodb/memory/store.ts';
import { sessionsTable } from '../../../../lib/dynamodb/tables.ts';
import { type EmbeddedTable, embeddedTable } from '../../../support/embedded-table.ts';
import { testClock } from '../../../support/test-clock.ts';

/* What a forget finds of calls that are at work on a record, or died of it: items in limbo. */

type Row = Record<string, AttributeValue>;

const clock = testClock();
const now = clock.now().getTime();
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
const key = () => ({ pk: { S: `memory/agent~${scope.session}` }, sk: { S: 'message/m' } });
const put = (Item: Row) => table.client.send(new PutItemCommand({ TableName: table.tableName, Item }));
const row = async () => {
  const { pk, sk } = key();
  return (await table.rows()).find((one) => one.pk?.S === pk.S && one.sk?.S === sk.S);
};
const limbo = (ageMs: number) => ({ S: `limbo/${String(now - ageMs).padStart(15, '0')}` });
const setOf = (name: string) => `${name}${sessions}.1.1`;
const chunkKey = (name: string) => ({ pk: { S: `chunk/${name}${sessions}/0` }, sk: { S: 'chunk' } });
const isThere = async (name: string) =>
  (await table.rows()).some(({ pk, body }) => pk?.S === chunkKey(name).pk.S && body !== undefined);

const old = abandonedAfterMs;
const until = { N: String(now + 5_000) };
const marker: Row = { fence: { N: '7' }, fencedUntil: until, gone: { M: { arrival: { N: '3' } } } };

/** What is left of the item, and whose rows are. */
interface Left {
  readonly item: 'the marker' | 'nothing' | readonly string[];
  readonly rows: readonly string[];
}

const cases: [string, Row, readonly string[], readonly string[], Left][] = [
  ['announced and given up', { place: limbo(old) }, ['A'], [], { item: 'nothing', rows: [] }],
  ['announced of late', { place: limbo(old - 1) }, ['A'], [], { item: ['place', 'sets'], rows: ['A'] }],
  ['removed in part of late', { place: limbo(0) }, [], ['D'], { item: 'nothing', rows: [] }],
  [
    'removed in part of late, and announced again',
    { place: limbo(1) },
    ['A'],
    ['D'],
    { item: ['place', 'sets'], rows: ['A'] },
  ],
  [
    'removed in part, announced again and given up',
    { place: limbo(old) },
    ['A'],
    ['D'],
    { item: 'nothing', rows: [] },
  ],
  [
    'removed in part for a marker',
    { place: limbo(0), ...marker },
    [],
    ['D'],
    { item: 'the marker', rows: [] },
  ],
  ['given up under a marker', { place: limbo(old), ...marker }, ['A'], [], { item: 'the marker', rows: [] }],
  [
    'announced of late under a marker',
    { place: limbo(1), ...marker },
    ['A'],
    [],
    { item: ['place', 'sets', 'fence', 'fencedUntil', 'gone'], rows: ['A'] },
  ],
];

describe.each([
  ['of a range', () => forgetNothing()],
  ['of nobody', () => storeOver().prune(scope, 'message', 0)],
  ['of ids', async () => storeOver().forgetIds(scope, 'message', ['other'], await storeOver().moment(scope))],
])('a forget %s finds a record', (_kind, forget) => {
  test.each(cases)('%s', async (_, item, sets, dead, left) => {
    for (const name of [...sets, ...dead]) await put({ ...chunkKey(name), body: { B: Buffer.from('x') } });
    await put({
      ...{ ...key(), ...item },
      ...(sets.length > 0 && { sets: { SS: sets.map(setOf) } }),
      ...(dead.length > 0 && { dead: { SS: dead.map(setOf) } }),
    });

    expect(await forget()).toBe(0);

    const found = await row();
    if (left.item === 'nothing') expect(found).toBeUndefined();
    else if (left.item === 'the marker')
      expect(found).toEqual({
        ...{ ...key(), ...marker },
        ttl: { N: String(Math.floor(Number(until.N) / 1000)) },
      });
    else expect(Object.keys(found ?? {}).sort()).toEqual(['pk', 'sk', ...left.item].sort());
    const rows = await Promise.all(['A', 'D'].map(async (name) => ((await isThere(name)) ? [name] : [])));
    expect(rows.flat()).toEqual(left.rows);
  });
});

const forgetNothing = async () => {
  const store = storeOver();
  return store.forgetRange(scope, 'message', { to: 0 }, await store.moment(scope));
};

test('a record that was given up under the fence of a forget leaves the fence', async () => {
  const fence: Row = { fence: { N: '7' }, fencedUntil: until };
  await put({ ...key(), ...fence, place: limbo(old), sets: { SS: [setOf('A')] } });

  await forgetNothing();

  expect(await row()).toEqual({ ...key(), ...fence, gone: { M: {} }, ttl: expect.anything() });
});

test.each<[string, Row]>([
  ['pruned', { pruned: { BOOL: true } }],
  ['compacted', { at: { N: '5' }, digest: { B: Buffer.from('d') } }],
])('a record that was %s is not forgotten where another call finishes its removal', async (_, said) => {
  const gone = { M: { arrival: { N: '3' }, ...said } };
  await put({ ...key(), ...marker, gone, place: limbo(0), dead: { SS: [setOf('D')] } });

  await forgetNothing();

  expect(Object.keys((await row())?.gone?.M ?? {})).toEqual(['arrival', ...Object.keys(said)]);
  expect(await storeOver().forgottenAmong(scope, ['m'])).toEqual([]);
});

test.each([
  ['a marker in force refuses whom it had refused', until, '7'],
  // The clock may have begun anew since.
  ['a marker that is over refuses nobody any more', { N: String(now) }, '1'],
])('a forget of the session, of what is announced under it: %s', async (_what, fencedUntil, fence) => {
  await put({ ...key(), ...marker, fencedUntil, place: limbo(0), sets: { SS: [setOf('A')] } });

  await storeOver().forgetScope(scope);

  expect(await row()).toMatchObject({ fence: { N: fence }, gone: marker.gone });
});

const place: Row = { place: { S: 'message/101798761600250.000000000000001' } };
/** The fence of a forget that comes later than the one that is at work on the item. */
const later = 70;

/** A client that lets a later forget fence the item before its `index`th request; whether the item was still there then. */
const fencedBefore = (index: number) => {
  const state = { sent: 0, isFenced: false };
  const send = async (command: object) => {
    if (state.sent++ === index) state.isFenced = await fenceLater();
    return table.client.send(command as never);
  };
  return { state, client: { send } as unknown as DynamoDBClient };
};
const fenceLater = async () => {
  const request = new UpdateItemCommand({
    TableName: table.tableName,
    Key: key(),
    UpdateExpression: 'SET fence = :fence, fencedUntil = :until',
    ConditionExpression: 'attribute_exists(place)',
    ExpressionAttributeValues: { ':fence': { N: String(later) }, ':until': until },
  });
  return table.client.send(request).then(
    () => true,
    () => false,
  );
};

test.each<[string, Row, readonly string[], readonly string[]]>([
  ['in limbo, with rows', { place: limbo(0) }, [], ['D']],
  ['in limbo, with rows, under a marker', { place: limbo(0), ...marker }, [], ['D']],
  ['given up, with rows', { place: limbo(old) }, ['A'], []],
  ['given up, without rows', { place: limbo(old) }, [], []],
  ['of a record that has expired', { ...place, info: { M: { expiresAt: { N: '1' } } } }, [], []],
])(
  'a forget that is overtaken by a later one leaves the fence of that one: an item %s',
  async (_, item, sets, dead) => {
    for (let index = 0, wasSent = true; wasSent; index++) {
      scope = { agent: 'agent', session: `s${++sessions}` };
      for (const name of [...sets, ...dead]) await put({ ...chunkKey(name), body: { B: Buffer.from('x') } });
      await put({
        ...{ ...key(), ...item },
        ...(sets.length > 0 && { sets: { SS: sets.map(setOf) } }),
        ...(dead.length > 0 && { dead: { SS: dead.map(setOf) } }),
      });
      const { state, client } = fencedBefore(index);
      const store = storeOver(client);

      await store.forgetRange(scope, 'message', {}, await store.moment(scope));

      wasSent = state.sent > index;
      if (!state.isFenced) continue;
      expect(await row(), `before request ${index}`).toMatchObject({ fence: { N: String(later) } });
      expect(await row(), `before request ${index}`).not.toHaveProperty('place');
      expect(await Promise.all([...sets, ...dead].map(isThere))).not.toContain(true);
    }
  },
);
