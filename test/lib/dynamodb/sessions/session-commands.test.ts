import {
  type AttributeValue,
  DynamoDBClient,
  GetItemCommand,
  QueryCommand,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb';
import { mockClient } from 'aws-sdk-client-mock';
import { afterAll, beforeEach, expect, test } from 'vitest';
import { dynamoDbErrorLog } from '../../../../lib/dynamodb/sessions/error-log.ts';
import { dynamoDbSessionStore } from '../../../../lib/dynamodb/sessions/session-store.ts';
import { sdkError } from '../../../support/failing-client.ts';

type Row = Record<string, AttributeValue>;

const at = new Date('2027-01-01T00:00:00.250Z');
const dynamoDb = mockClient(DynamoDBClient);
// It stands in for every client of the process.
afterAll(() => dynamoDb.restore());
const client = new DynamoDBClient({ region: 'eu-central-1' });
const sessions = dynamoDbSessionStore(client, 'T', () => at);
const errors = dynamoDbErrorLog({ client, tableName: 'T' });
beforeEach(() => {
  dynamoDb.reset();
});

const itemOf = (id: string): Row => ({
  ...{ sk: { S: `session/${id}` }, v: { N: '1' }, meta: { S: '{"n":1}' } },
  ...{ registeredAt: { N: '1' }, lastActiveAt: { N: '2' } },
});
const tombstone: Row = { sk: { S: 'session/gone' }, deregisteredBy: { S: 'c' }, ttl: { N: '9' } };
const queries = () => dynamoDb.commandCalls(QueryCommand).map((call) => call.args[0].input);

test.each<[string, { readonly [attribute: string]: AttributeValue | undefined }]>([
  ['another format', { v: { N: '2' } }],
  ['another kind', { sk: { S: 'other/s1' } }],
  ['no time of registration', { registeredAt: { S: 'today' } }],
  ['no time of activity', { lastActiveAt: { S: 'today' } }],
  ['no meta', { meta: undefined }],
  ['a meta of another type', { meta: { N: '1' } }],
  ['no format', { v: undefined }],
  ['no key of its own', { sk: { N: '1' } }],
  ['a meta that is not JSON', { meta: { S: '{' } }],
])('a session of %s is corrupt, not one that is not there', async (_, damage) => {
  const item = { ...itemOf('s1'), ...damage } as Row;
  dynamoDb.on(GetItemCommand).resolves({ Item: item });
  dynamoDb.on(QueryCommand).resolves({ Items: [item] });

  await expect(sessions.get('a', 's1')).rejects.toMatchObject({ code: 'corrupt' });
  await expect(sessions.listShard({ agent: 'a', shard: 3, limit: 9 })).rejects.toMatchObject({
    code: 'corrupt',
  });
});

test('what is left of a session that was deregistered is none, until it is registered again', async () => {
  dynamoDb
    .on(GetItemCommand)
    .resolvesOnce({ Item: tombstone })
    .resolves({
      Item: { ...tombstone, ...itemOf('gone') },
    });

  expect(await sessions.get('a', 'gone')).toBeUndefined();
  expect(await sessions.get('a', 'gone')).toMatchObject({ id: 'gone', meta: { n: 1 } });
  for (const call of dynamoDb.commandCalls(GetItemCommand))
    expect(call.args[0].input.ConsistentRead).toBe(true);
});

test('a page of a shard is read consistently from its place on, as far as it is not full', async () => {
  const next = { pk: { S: 'sessions/a/3' }, sk: { S: 'session/x' } };
  dynamoDb
    .on(QueryCommand)
    .resolvesOnce({ Items: [itemOf('b'), tombstone], LastEvaluatedKey: next })
    .resolvesOnce({ LastEvaluatedKey: next })
    .resolves({ Items: [itemOf('c'), itemOf('d')], LastEvaluatedKey: next });

  const page = await sessions.listShard({ agent: 'a', shard: 3, limit: 2, after: 'a' });

  expect(page).toMatchObject({ items: [{ id: 'b' }, { id: 'c' }], next: 'c' });
  expect(queries().map(({ Limit }) => Limit)).toEqual([3, 2, 2]);
  expect(queries().map(({ ExclusiveStartKey }) => ExclusiveStartKey?.sk?.S)).toEqual([
    ...['session/a', 'session/x', 'session/x'],
  ]);
  for (const { ConsistentRead } of queries()) expect(ConsistentRead).toBe(true);
});

test.each([
  ['none where it is all that there is', {}, undefined, 1],
  ['its place where more follow', { Items: [itemOf('c')] }, 'b', 2],
])('a page that is exactly full has for its next: %s', async (_, rest, next, requests) => {
  const more = { LastEvaluatedKey: { pk: { S: 'sessions/a/3' }, sk: { S: 'session/b' } } };
  dynamoDb
    .on(QueryCommand)
    .resolvesOnce({ Items: [itemOf('a'), itemOf('b')], ...(next && more) })
    .resolves(rest);

  const page = await sessions.listShard({ agent: 'a', shard: 3, limit: 2 });

  expect(page).toMatchObject({ items: [{ id: 'a' }, { id: 'b' }], next });
  expect(queries()).toHaveLength(requests);
});

test('a session that an earlier release registered was not created now, though it bears no name of a call', async () => {
  const registered = { ...itemOf('s1'), registeredAt: { N: '1' } };
  dynamoDb.on(UpdateItemCommand).callsFake(({ ExpressionAttributeValues }) => ({
    Attributes: { ...registered, registeredBy: ExpressionAttributeValues[':v1'] },
  }));

  expect(await sessions.register('a', { id: 's1', meta: {}, at })).toMatchObject({ created: false });
});

test('a deregistration that fails was none: only a condition tells that nobody was there', async () => {
  dynamoDb.on(GetItemCommand).resolves({ Item: { ...tombstone, deregisteredBy: { S: 'another' } } });
  for (const [error, told] of [
    [sdkError('ConditionalCheckFailedException'), false],
    [sdkError('ConditionalCheckFailedException', 2), false],
    [sdkError('TimeoutError', 2), 'unavailable'],
  ] as const) {
    dynamoDb.on(UpdateItemCommand).rejects(error);

    expect(await sessions.deregister('a', 's1').catch(({ code }) => code)).toBe(told);
    if (told !== false) await expect(sessions.touch('a', 's1', at)).rejects.toMatchObject({ code: told });
    else expect(await sessions.touch('a', 's1', at)).toBe(false);
  }
  expect(dynamoDb.commandCalls(GetItemCommand)).toHaveLength(1);
});

test.each<[string, Row, object | undefined]>([
  ['of another format', { v: { N: '2' } }, undefined],
  ['of no format', { v: { S: '1' } }, undefined],
  ['whose time is none', { recordedAt: { N: 'soon' } }, undefined],
  ['that holds nothing but its place', { recordedAt: { S: '' } }, { ts: new Date(1), where: '', msg: '' }],
  [
    'that says all there is',
    { recordedAt: { N: '5' }, where: { S: 'w' }, msg: { S: 'm' }, stack: { S: 's' }, runId: { S: 'r' } },
    { ts: new Date(5), where: 'w', msg: 'm', stack: 's', runId: 'r' },
  ],
])('a logged error %s', async (_, item, expected) => {
  const Item = { sk: { S: '000000000000001.000000000.u' }, v: { N: '1' }, ...item };
  dynamoDb
    .on(QueryCommand)
    .resolvesOnce({ Items: [Item] })
    .resolves({});

  const listed = errors.list({ agent: 'a', limit: 5, maxErrors: 10 });

  if (expected === undefined) await expect(listed).rejects.toMatchObject({ code: 'corrupt' });
  else expect((await listed).items).toMatchObject([expected]);
  for (const query of queries())
    expect(query).toMatchObject({ ConsistentRead: true, ScanIndexForward: false });
});
