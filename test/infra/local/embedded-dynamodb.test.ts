import {
  DeleteItemCommand,
  type DynamoDBClient,
  PutItemCommand,
  QueryCommand,
} from '@aws-sdk/client-dynamodb';
import { ClassicLevel } from 'classic-level';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { type EmbeddedDynamoDb, openEmbeddedDynamoDb } from '../../../infra/local/embedded-dynamodb.ts';
import { sessionsTable } from '../../../lib/dynamodb/tables.ts';
import { temporaryFolder } from './local-process.ts';

/** What the database on disk and the one in memory have their methods from. */
const anyLevel = Object.getPrototypeOf(ClassicLevel.prototype);
const places = [
  ['in memory', () => undefined],
  ['in a folder', temporaryFolder],
] as const;

const opened: EmbeddedDynamoDb[] = [];
afterEach(async () => {
  vi.restoreAllMocks();
  for (const database of opened.splice(0)) await database.close();
});

async function sessions(folder: string | undefined) {
  const database = await openEmbeddedDynamoDb(folder, [sessionsTable]);
  opened.push(database);
  return { client: database.client, TableName: database.tableName(sessionsTable) };
}

const row = (sk: string, place: string) => ({ pk: { S: 'p' }, sk: { S: sk }, place: { S: place } });

async function byPlace(client: DynamoDBClient, TableName: string): Promise<(string | undefined)[]> {
  const { Items = [] } = await client.send(
    new QueryCommand({
      TableName,
      IndexName: 'byPlace',
      KeyConditionExpression: 'pk = :p',
      ExpressionAttributeValues: { ':p': { S: 'p' } },
    }),
  );
  return Items.map(({ sk, place }) => `${sk?.S} ${place?.S}`);
}

describe.each(places)('the embedded DynamoDB %s', (_where, place) => {
  it('leaves no iterator open, whether a query reads to the end or stops at its limit', async () => {
    const iterators: { next(): Promise<unknown> }[] = [];
    const { client, TableName } = await sessions(place());
    for (let index = 0; index < 10; index++)
      await client.send(new PutItemCommand({ TableName, Item: row(`s${index}`, `${index}`) }));
    const { values } = anyLevel;
    vi.spyOn(anyLevel, 'values').mockImplementation(function (this: unknown, ...args) {
      const iterator = values.apply(this, args);
      iterators.push(iterator);
      return iterator;
    });

    for (const Limit of [1, 5, 10, 1000]) {
      for (const IndexName of [undefined, 'byPlace']) {
        await client.send(
          new QueryCommand({
            TableName,
            IndexName,
            Limit,
            KeyConditionExpression: 'pk = :p',
            ExpressionAttributeValues: { ':p': { S: 'p' } },
          }),
        );
      }
    }

    expect(iterators).toHaveLength(8);
    for (const iterator of iterators)
      await expect(iterator.next()).rejects.toMatchObject({ code: 'LEVEL_ITERATOR_NOT_OPEN' });
  });

  it('writes an item and its index entries at once, or neither', async () => {
    const batches: string[][] = [];
    let isBroken = false;
    const { batch } = anyLevel;
    vi.spyOn(anyLevel, 'batch').mockImplementation(function (this: unknown, ...args) {
      const [operations] = args as [{ type: string; key: string }[]];
      batches.push(operations.map(({ type, key }) => `${type} ${key.split('~')[0]}`));
      return isBroken ? Promise.reject(new Error('broken')) : batch.apply(this, args);
    });
    const { client, TableName } = await sessions(place());
    batches.length = 0;

    await client.send(new PutItemCommand({ TableName, Item: row('s', '1') }));
    await client.send(new PutItemCommand({ TableName, Item: row('s', '2') }));
    isBroken = true;
    await expect(client.send(new PutItemCommand({ TableName, Item: row('s', '3') }))).rejects.toThrow(
      'broken',
    );
    isBroken = false;
    const kept = await vi.waitFor(() => byPlace(client, TableName));
    await vi.waitFor(() =>
      client.send(new DeleteItemCommand({ TableName, Key: { pk: { S: 'p' }, sk: { S: 's' } } })),
    );

    expect(kept).toEqual(['s 2']);
    expect(await byPlace(client, TableName)).toEqual([]);
    expect(batches[0]).toEqual(expect.arrayContaining(['put index-local', 'put item-dormouse-sessions']));
    expect(batches[1]).toEqual(
      expect.arrayContaining(['del index-local', 'put index-local', 'put item-dormouse-sessions']),
    );
    expect(batches.at(-1)).toEqual(expect.arrayContaining(['del index-local', 'del item-dormouse-sessions']));
  });
});
