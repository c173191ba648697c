import { deepStrictEqual } from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { BatchWriteItemCommand, GetItemCommand } from '@aws-sdk/client-dynamodb';
import pMap from 'p-map';
import { sessionShards } from '../../lib/defaults.ts';
import { dynamoDbSessionStore } from '../../lib/dynamodb/sessions/session-store.ts';
import { sessionsTable } from '../../lib/dynamodb/tables.ts';
import { shardOf } from '../../lib/sessions/shard-of.ts';
import type { EmbeddedProcess } from './embedded-process.ts';

const idPrefix = 'session-';
const meta = { channel: 'web' };
const at = new Date('2027-01-01T00:00:00Z');

const sessionId = (number: number) => `${idPrefix}${number}`;
export const sessionNumber = (id: string) => Number(id.slice(idPrefix.length));

/** The partition of a shard of an agent's sessions. */
export const shardPartition = (agent: string, shard: number) => `sessions/${agent}/${shard}`;

/**
 * Registers sessions 0 to `count` - 1 of an agent: one through the store, the others as rows of the same form, 25 at a
 * time, which takes a seventh of the time.
 */
export async function registerSessions(
  { client, tableName }: EmbeddedProcess,
  agent: string,
  count: number,
): Promise<void> {
  const TableName = tableName(sessionsTable);
  const rowOf = (number: number) => {
    const id = sessionId(number);
    const time = { N: String(at.getTime()) };
    return {
      pk: { S: shardPartition(agent, shardOf(id, sessionShards)) },
      sk: { S: `session/${id}` },
      ...{ v: { N: '1' }, meta: { S: JSON.stringify(meta) }, registeredAt: time, lastActiveAt: time },
      registeredBy: { S: randomUUID() },
    };
  };

  await dynamoDbSessionStore(client, TableName).register(agent, { id: sessionId(0), meta, at });
  const { pk, sk, ...rest } = rowOf(0);
  const { Item } = await client.send(
    new GetItemCommand({ TableName, Key: { pk, sk }, ConsistentRead: true }),
  );
  deepStrictEqual(Item, { pk, sk, ...rest, registeredBy: Item?.registeredBy });

  const batches = Array.from({ length: Math.ceil(count / 25) }, (_, batch) => batch * 25);
  const putBatch = async (first: number) => {
    const rows = Array.from({ length: Math.min(25, count - first) }, (_, index) => rowOf(first + index));
    const requests = rows.map((Item) => ({ PutRequest: { Item } }));
    await client.send(new BatchWriteItemCommand({ RequestItems: { [TableName]: requests } }));
  };
  await pMap(batches, putBatch, { concurrency: 4 });
}
