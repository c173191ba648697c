import {
  DeleteItemCommand,
  GetItemCommand,
  PutItemCommand,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb';
import pMap from 'p-map';
import { chunkConcurrency } from '../defaults.ts';
import { ExpressionParts } from './expression.ts';
import { forEachSettled } from './for-each-settled.ts';
import { type ChunkSet, chunkKeys } from './snapshot-keys.ts';
import { itemKey, type SnapshotTable } from './snapshot-table.ts';
import { isConditionFailure, wasRetried } from './translate-error.ts';
import { ttlAfter } from './ttl.ts';

/**
 * Never over a row that is there: it is this very one, or the tombstone of a set that was removed meanwhile, which the
 * commit will find out. `owner` is the store key, so that an operator who meets a row can tell whose it is.
 * Resolves whether every request had its answer: otherwise one may still arrive, and whoever removes the set must leave
 * tombstones.
 */
export async function writeChunkRows(
  table: SnapshotTable,
  set: ChunkSet,
  rows: { data: Uint8Array; owner: string; ttl: number | undefined },
): Promise<boolean> {
  let certain = true;
  const write = async (key: { pk: string; sk: string }, index: number) => {
    const body = rows.data.subarray(index * table.chunkMaxBytes, (index + 1) * table.chunkMaxBytes);
    const request = new PutItemCommand({
      TableName: table.tableName,
      Item: {
        ...itemKey(key),
        body: { B: body },
        owner: { S: rows.owner },
        ...(rows.ttl !== undefined && { ttl: { N: String(rows.ttl) } }),
      },
      ConditionExpression: 'attribute_not_exists(pk)',
    });
    try {
      if (wasRetried(await table.client.send(request))) certain = false;
    } catch (error) {
      if (!isConditionFailure(error)) throw error;
      certain = false;
    }
  };
  await forEachSettled(chunkKeys(set), chunkConcurrency, write);
  return certain;
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

/** Puts a tombstone in the place of each row, for as long as a request for the row may still arrive. */
export async function buryChunkRows(table: SnapshotTable, sets: readonly ChunkSet[]): Promise<void> {
  const parts = new ExpressionParts();
  const until = parts.value({ N: String(ttlAfter(table.clock())) });
  const update = { UpdateExpression: `SET ${parts.name('ttl')} = ${until} REMOVE body`, ...parts.attributes };
  await forEachSettled(sets.flatMap(chunkKeys), chunkConcurrency, (key) =>
    table.client.send(new UpdateItemCommand({ TableName: table.tableName, Key: itemKey(key), ...update })),
  );
}
