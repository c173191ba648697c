import {
  DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
  QueryCommand,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb';
import { mockClient } from 'aws-sdk-client-mock';
import { afterAll, beforeEach, expect, test } from 'vitest';
import { dynamoDbMemoryStore } from '../../../../lib/dynamodb/memory/store.ts';
import { packValue } from '../../../../lib/memory/message-codec.ts';

const dynamoDb = mockClient(DynamoDBClient);
// It stands in for every client of the process.
afterAll(() => dynamoDb.restore());
const client = new DynamoDBClient({ region: 'eu-central-1' });
const memory = dynamoDbMemoryStore({ client, tableName: 'T' });
const scope = { agent: 'a/b', session: 's1' };
const pk = { S: 'memory/a%2Fb~s1' };
beforeEach(() => {
  dynamoDb.reset();
});

const value = {
  info: {
    M: {
      ...{ v: { N: '1' }, format: { S: 'json' }, contentType: { S: 'a/b' }, encoding: { S: 'identity' } },
      ...{ bytes: { N: '1' }, storedBytes: { N: '1' }, updatedAt: { N: '1' } },
    },
  },
  body: { B: Buffer.from('1') },
};
const user = { kind: 'user', ...scope, identity: 'ann' } as const;

test('values, and who has them, are read consistently, on over empty pages, to an empty key', async () => {
  const next = { pk, sk: { S: 'user/ann/a' } };
  const page = (...keys: string[]) => keys.map((key) => ({ ...value, sk: { S: `user/ann/${key}` } }));
  for (const [list, expected] of [
    [async () => (await memory.listValues(user, { limit: 2 })).items, [{ key: 'a' }, { key: 'b' }]],
    [() => memory.listIdentities(scope), ['ann']],
  ] as const) {
    dynamoDb.reset();
    dynamoDb
      .on(QueryCommand)
      .resolvesOnce({ Items: page('a'), LastEvaluatedKey: next })
      .resolvesOnce({ LastEvaluatedKey: next })
      .resolvesOnce({ Items: page('b'), LastEvaluatedKey: {} });

    expect(await list()).toMatchObject(expected);
    const queries = dynamoDb.commandCalls(QueryCommand).map((call) => call.args[0].input);
    expect(queries.map(({ ExclusiveStartKey }) => ExclusiveStartKey)).toEqual([undefined, next, next]);
    for (const { ConsistentRead } of queries) expect(ConsistentRead).toBe(true);
    const projection = expected[0] === 'ann' ? 'sk, fence' : undefined;
    expect(queries[0]?.ProjectionExpression).toBe(projection);
  }
});

test.each([
  ['data', { info: value.info }],
  ['information', { body: value.body }],
])('a value that has lost its %s is corrupt', async (_, left) => {
  const item = { sk: { S: 'user/ann/a' }, ...left };
  dynamoDb.on(QueryCommand).resolves({ Items: [item] });
  dynamoDb.on(GetItemCommand).resolves({ Item: item });

  await expect(memory.listValues(user, { limit: 1 })).rejects.toMatchObject({ code: 'corrupt' });
  await expect(memory.getValue(user, 'a')).rejects.toMatchObject({ code: 'corrupt' });
  expect(dynamoDb.commandCalls(GetItemCommand)[0]?.args[0].input).toMatchObject({
    ...{ Key: { pk, sk: { S: 'user/ann/a' } }, ConsistentRead: true },
  });
});

test.each([
  [{ kind: 'user', ...scope, identity: 'a/n' } as const, pk, 'user/a%2Fn/x/y'],
  [{ kind: 'lineage', ...scope } as const, pk, 'lineage/x/y'],
  [{ kind: 'knowledge', agent: 'a/b' } as const, { S: 'knowledge/a%2Fb/7' }, 'key/x/y'],
])('a value of %o has an item of its own, for ever', async (of, partition, sk) => {
  dynamoDb.on(UpdateItemCommand).resolves({ Attributes: { arrivals: { N: '8' } } });
  dynamoDb.on(PutItemCommand).resolves({});

  await memory.putValue(of, 'x/y', await packValue(1, 'x'));

  const keys = dynamoDb.calls().map((call) => {
    const { Item, Key } = call.args[0].input as { Item?: object; Key?: object };
    return Item ?? Key;
  });
  expect(keys.at(-1)).toMatchObject({ pk: partition, sk: { S: sk } });
});
