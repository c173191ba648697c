import { GetItemCommand, PutItemCommand, UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import pMap from 'p-map';
import { memoryConcurrency, requestKnownForSecs } from '../defaults.ts';
import { NotStoredError } from '../memory/memory-error.ts';
import type { Appended, AppendRequest, MemoryScope, RecordKind } from '../memory/memory-store.ts';
import { placeRecords } from '../memory/record-place.ts';
import { CorruptError } from '../persistence/persistence-error.ts';
import { ExpressionParts } from './expression.ts';
import { counterKey, requestKey } from './memory-keys.ts';
import { storeRecord } from './memory-write.ts';
import type { SnapshotTable } from './snapshot-table.ts';
import { isConditionFailure, translateError } from './translate-error.ts';

/**
 * 1. take as many arrival numbers as there are records, 2. where the request may be sent again, keep its numbers and its
 * time under its name, or find those of its first sending, 3. store each record in its place unless it is stored.
 * A crash between any two writes leaves each record whole or absent, and the same request sent again stores the others
 * in the very places they would have had.
 */
export async function appendRecords(
  table: SnapshotTable,
  scope: MemoryScope,
  kind: RecordKind,
  request: AppendRequest,
): Promise<readonly Appended[]> {
  if (request.records.length === 0) return [];
  const { receivedAt, firstArrival } = await originOf(table, scope, request);
  const placed = placeRecords(request, receivedAt, firstArrival);
  const failed: { id: string; error: unknown }[] = [];
  const outcomes = await pMap(
    placed,
    (record) =>
      storeRecord(table, scope, kind, record).catch((error: unknown) => {
        failed.push({ id: record.id, error });
        return undefined;
      }),
    { concurrency: memoryConcurrency },
  );
  if (failed.length > 0) {
    const ids = failed.map(({ id }) => id);
    throw new NotStoredError(ids, translateError(failed[0]?.error));
  }
  return outcomes.filter((outcome) => outcome !== undefined);
}

interface Origin {
  readonly receivedAt: number;
  readonly firstArrival: number;
}

async function originOf(table: SnapshotTable, scope: MemoryScope, request: AppendRequest): Promise<Origin> {
  const { requestId, receivedAt, records } = request;
  const firstArrival = await takeArrivals(table, scope, records.length);
  const own = { receivedAt, firstArrival };
  if (requestId === undefined) return own;
  if (await keepOrigin(table, scope, requestId, own)) return own;
  // It may have been forgotten with the session just now: then this is a new request.
  return (await readOrigin(table, scope, requestId)) ?? own;
}

async function takeArrivals(table: SnapshotTable, scope: MemoryScope, count: number): Promise<number> {
  const parts = new ExpressionParts();
  const { Attributes } = await table.client.send(
    new UpdateItemCommand({
      TableName: table.tableName,
      Key: counterKey(scope),
      UpdateExpression: `ADD arrivals ${parts.value({ N: String(count) })}`,
      ReturnValues: 'UPDATED_NEW',
      ...parts.attributes,
    }),
  );
  return numberOf(Attributes?.arrivals?.N) - count;
}

/** Resolves false when the request was received before. */
async function keepOrigin(
  table: SnapshotTable,
  scope: MemoryScope,
  requestId: string,
  { receivedAt, firstArrival }: Origin,
): Promise<boolean> {
  const parts = new ExpressionParts();
  const forgottenBefore = receivedAt - requestKnownForSecs * 1000;
  const notKnown = `attribute_not_exists(pk) OR receivedAt <= ${parts.value({ N: String(forgottenBefore) })}`;
  try {
    await table.client.send(
      new PutItemCommand({
        TableName: table.tableName,
        Item: {
          ...requestKey(scope, requestId),
          receivedAt: { N: String(receivedAt) },
          firstArrival: { N: String(firstArrival) },
          ttl: { N: String(Math.floor(receivedAt / 1000) + requestKnownForSecs) },
        },
        ConditionExpression: notKnown,
        ...parts.attributes,
      }),
    );
    return true;
  } catch (error) {
    if (isConditionFailure(error)) return false;
    throw error;
  }
}

async function readOrigin(
  table: SnapshotTable,
  scope: MemoryScope,
  requestId: string,
): Promise<Origin | undefined> {
  const { Item } = await table.client.send(
    new GetItemCommand({
      TableName: table.tableName,
      Key: requestKey(scope, requestId),
      ConsistentRead: true,
    }),
  );
  if (Item === undefined) return undefined;
  return { receivedAt: numberOf(Item.receivedAt?.N), firstArrival: numberOf(Item.firstArrival?.N) };
}

function numberOf(text: string | undefined): number {
  const value = Number(text ?? Number.NaN);
  if (!Number.isSafeInteger(value)) throw new CorruptError('an item that orders the memory has no number');
  return value;
}
