import {
  DeleteItemCommand,
  type DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb';
import pMap from 'p-map';
import type { Clock } from '../clock.ts';
import { chunkConcurrency } from '../defaults.ts';
import type { NewEtag } from '../persistence/etag.ts';
import { ExpressionParts } from './expression.ts';
import { forEachSettled } from './for-each-settled.ts';
import { type ItemKey, itemKey } from './item.ts';
import { isConditionFailure, wasRetried } from './translate-error.ts';
import { ttlAfter } from './ttl.ts';

/** What every step on a table needs whose items may have their data in chunk rows. */
export interface ChunkedTable {
  readonly client: DynamoDBClient;
  readonly tableName: string;
  readonly clock: Clock;
  readonly newEtag: NewEtag;
  readonly inlineMaxBytes: number;
  readonly chunkMaxBytes: number;
}

/**
 * One writer's chunks: the writer's ETag, how many rows, and when it announced them. Chunk rows of different writers
 * never share a key, so that no reader can mix them.
 */
export interface ChunkSet {
  readonly etag: string;
  readonly count: number;
  readonly announcedAt: number;
}

export function formatChunkSet({ etag, count, announcedAt }: ChunkSet): string {
  return `${etag}.${count}.${announcedAt}`;
}

export function parseChunkSet(text: string): ChunkSet | undefined {
  const match = /^([^.]+)\.(\d+)\.(\d+)$/.exec(text);
  if (match?.[1] === undefined) return undefined;
  return { etag: match[1], count: Number(match[2]), announcedAt: Number(match[3]) };
}

/** A partition a chunk: a large state is written at the speed of many partitions, not of one. */
function chunkKeys({ etag, count }: ChunkSet): ItemKey[] {
  return Array.from({ length: count }, (_, index) => ({ pk: `chunk/${etag}/${index}`, sk: 'chunk' }));
}

/**
 * Never over a row that is there: it is this very one, or the tombstone of a set that was removed meanwhile, which the
 * commit will find out. `owner` is the store key, so that an operator who meets a row can tell whose it is.
 * Resolves whether every request had its answer: otherwise one may still arrive, and whoever removes the set must leave
 * tombstones.
 */
export async function writeChunkRows(
  table: ChunkedTable,
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
export async function readChunkRows(table: ChunkedTable, set: ChunkSet): Promise<Uint8Array | undefined> {
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

export async function deleteChunkRows(table: ChunkedTable, sets: readonly ChunkSet[]): Promise<void> {
  await forEachSettled(sets.flatMap(chunkKeys), chunkConcurrency, (key) =>
    table.client.send(new DeleteItemCommand({ TableName: table.tableName, Key: itemKey(key) })),
  );
}

/** Puts a tombstone in the place of each row, for as long as a request for the row may still arrive. */
export async function buryChunkRows(table: ChunkedTable, sets: readonly ChunkSet[]): Promise<void> {
  const parts = new ExpressionParts();
  const until = parts.value({ N: String(ttlAfter(table.clock())) });
  const update = { UpdateExpression: `SET ${parts.name('ttl')} = ${until} REMOVE body`, ...parts.attributes };
  await forEachSettled(sets.flatMap(chunkKeys), chunkConcurrency, (key) =>
    table.client.send(new UpdateItemCommand({ TableName: table.tableName, Key: itemKey(key), ...update })),
  );
}
