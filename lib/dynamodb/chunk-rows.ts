import { DeleteItemCommand, GetItemCommand, PutItemCommand } from '@aws-sdk/client-dynamodb';
import pMap from 'p-map';
import { chunkConcurrency } from '../defaults.ts';
import { forEachSettled } from './for-each-settled.ts';
import { type ChunkSet, chunkKeys } from './snapshot-keys.ts';
import { itemKey, type SnapshotTable } from './snapshot-table.ts';

/** `owner` is the store key, so that an operator who meets a row can tell whose it is. */
export async function writeChunkRows(
  table: SnapshotTable,
  set: ChunkSet,
  rows: { data: Uint8Array; owner: string; ttl: number | undefined },
): Promise<void> {
  const write = async (key: { pk: string; sk: string }, index: number) => {
    const body = rows.data.subarray(index * table.chunkMaxBytes, (index + 1) * table.chunkMaxBytes);
    await table.client.send(
      new PutItemCommand({
        TableName: table.tableName,
        Item: {
          ...itemKey(key),
          body: { B: body },
          owner: { S: rows.owner },
          ...(rows.ttl !== undefined && { ttl: { N: String(rows.ttl) } }),
        },
      }),
    );
  };
  await forEachSettled(chunkKeys(set), chunkConcurrency, write);
}

/** The data of a chunk set, or undefined when a row is missing. */
export async function readChunkRows(table: SnapshotTable, set: ChunkSet): Promise<Uint8Array | undefined> {
  const bodies = await pMap(
    chunkKeys(set),
    async (key) => {
      const { Item } = await table.client.send(
        new GetItemCommand({ TableName: table.tableName, Key: itemKey(key), ConsistentRead: true }),
      );
      return Item?.body?.B;
    },
    { concurrency: chunkConcurrency },
  );
  const whole = bodies.filter((body) => body !== undefined);
  return whole.length === bodies.length ? Buffer.concat(whole) : undefined;
}

export async function deleteChunkRows(table: SnapshotTable, sets: readonly ChunkSet[]): Promise<void> {
  await forEachSettled(sets.flatMap(chunkKeys), chunkConcurrency, (key) =>
    table.client.send(new DeleteItemCommand({ TableName: table.tableName, Key: itemKey(key) })),
  );
}
