import { DeleteItemCommand, QueryCommand, UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import pMap from 'p-map';
import { abandonedAfterMs, memoryConcurrency } from '../defaults.ts';
import type { MemoryScope, RecordKind, TimeRange } from '../memory/memory-store.ts';
import { placesOf } from '../memory/record-place.ts';
import { deleteChunkRows } from './chunk-rows.ts';
import { ExpressionParts } from './expression.ts';
import { kindOf, limboPlace, memoryPartition, recordPlace } from './memory-keys.ts';
import { indexPages } from './memory-read.ts';
import { isVisible, parseRecord, type RecordRow, removalAttributes } from './memory-record.ts';
import type { Item } from './snapshot-head.ts';
import { formatChunkSet, parseChunkSet } from './snapshot-keys.ts';
import { itemKey, type SnapshotTable } from './snapshot-table.ts';
import { isConditionFailure, wasRetried } from './translate-error.ts';

/** Removes the records of a range, and what crashed writers and removers left in the session. */
export async function forgetRange(
  table: SnapshotTable,
  scope: MemoryScope,
  kind: RecordKind,
  range: TimeRange,
): Promise<number> {
  const { first, last } = placesOf(range);
  const bounds = { first: recordPlace(kind, first), last: recordPlace(kind, last) };
  const removed = await removeIndexed(table, scope, bounds);
  await sweepLimbo(table, scope);
  return removed;
}

export async function forgetIds(
  table: SnapshotTable,
  scope: MemoryScope,
  rows: readonly (RecordRow | undefined)[],
): Promise<number> {
  const removed = await removeRows(
    table,
    scope,
    rows.filter((row) => row !== undefined),
  );
  await sweepLimbo(table, scope);
  return removed;
}

/** What has been in limbo for so long that nobody is at work on it any more. */
async function sweepLimbo(table: SnapshotTable, scope: MemoryScope): Promise<void> {
  const last = limboPlace(table.clock().getTime() - abandonedAfterMs);
  await removeIndexed(table, scope, { first: limboPlace(0), last });
}

async function removeIndexed(
  table: SnapshotTable,
  scope: MemoryScope,
  bounds: { first: string; last: string },
): Promise<number> {
  let removed = 0;
  for await (const rows of indexPages(table, scope, { ...bounds, attributes: removalAttributes }))
    removed += await removeRows(table, scope, rows);
  return removed;
}

async function removeRows(
  table: SnapshotTable,
  scope: MemoryScope,
  rows: readonly RecordRow[],
): Promise<number> {
  const outcomes = await pMap(
    rows,
    async (row) => (await removeRecord(table, scope, row)) && isVisible(row, table.clock()),
    { concurrency: memoryConcurrency },
  );
  return outcomes.filter(Boolean).length;
}

/**
 * Removes a record that was read, unless it was replaced or removed since: then resolves false.
 * Without chunk rows: one conditional delete.
 * With chunk rows: 1. put the item in limbo and claim its sets, from which moment nothing is stored and no writer can
 * commit, 2. delete the rows, 3. delete the item. A crash after 1 leaves it in limbo, for the next one who forgets.
 */
async function removeRecord(table: SnapshotTable, scope: MemoryScope, row: RecordRow): Promise<boolean> {
  const key = itemKey({ pk: memoryPartition(scope), sk: row.sk });
  const committed = row.chunks === undefined ? [] : [formatChunkSet(row.chunks)];
  const sets = [...new Set([...committed, ...row.sets, ...row.dead])];
  if (sets.length === 0) return deleteIf(table, key, row.place, ['sets', 'dead']);
  const limbo = await claim(table, key, row, sets);
  if (limbo === undefined) return false;
  await deleteChunkRows(
    table,
    sets.map(parseChunkSet).filter((set) => set !== undefined),
  );
  if (!(await deleteIf(table, key, limbo, ['sets']))) await unclaim(table, key, sets);
  return true;
}

/** Deletes the item if it is still in this place and has none of these attributes. */
async function deleteIf(table: SnapshotTable, key: Item, place: string, without: string[]): Promise<boolean> {
  const parts = new ExpressionParts();
  const absent = without.map((name) => `attribute_not_exists(${parts.name(name)})`);
  try {
    await table.client.send(
      new DeleteItemCommand({
        TableName: table.tableName,
        Key: key,
        ConditionExpression: [`place = ${parts.value({ S: place })}`, ...absent].join(' AND '),
        ...parts.attributes,
      }),
    );
    return true;
  } catch (error) {
    // After a retry of the SDK it is gone because an earlier try, whose answer was lost, deleted it.
    if (isConditionFailure(error)) return wasRetried(error);
    throw error;
  }
}

async function claim(
  table: SnapshotTable,
  key: Item,
  row: RecordRow,
  sets: string[],
): Promise<string | undefined> {
  const parts = new ExpressionParts();
  const limbo = limboPlace(table.clock().getTime());
  const claimed = parts.value({ SS: sets });
  try {
    await table.client.send(
      new UpdateItemCommand({
        TableName: table.tableName,
        Key: key,
        UpdateExpression: [
          `SET place = ${parts.value({ S: limbo })}`,
          `REMOVE info, body, chunks, ${parts.name('ttl')}`,
          `ADD dead ${claimed} DELETE ${parts.name('sets')} ${claimed}`,
        ].join(' '),
        ConditionExpression: `place = ${parts.value({ S: row.place })}`,
        ...parts.attributes,
      }),
    );
    return limbo;
  } catch (error) {
    if (!isConditionFailure(error)) throw error;
    return wasRetried(error) ? limbo : undefined;
  }
}

/** Another writer has announced rows of its own in the item meanwhile: it stays, without what was removed. */
async function unclaim(table: SnapshotTable, key: Item, sets: string[]): Promise<void> {
  const parts = new ExpressionParts();
  try {
    await table.client.send(
      new UpdateItemCommand({
        TableName: table.tableName,
        Key: key,
        UpdateExpression: `DELETE dead ${parts.value({ SS: sets })}`,
        ConditionExpression: 'attribute_exists(pk)',
        ...parts.attributes,
      }),
    );
  } catch (error) {
    if (!isConditionFailure(error)) throw error;
  }
}

/** Removes every item of the session's partition. */
export async function forgetScope(table: SnapshotTable, scope: MemoryScope): Promise<number> {
  let removed = 0;
  let startKey: Item | undefined;
  do {
    const parts = new ExpressionParts();
    const { Items = [], LastEvaluatedKey } = await table.client.send(
      new QueryCommand({
        TableName: table.tableName,
        KeyConditionExpression: `pk = ${parts.value({ S: memoryPartition(scope) })}`,
        ProjectionExpression: removalAttributes.map((name) => parts.name(name)).join(', '),
        ConsistentRead: true,
        ExclusiveStartKey: startKey,
        ...parts.attributes,
      }),
    );
    const rows = Items.map(parseRecord);
    const records = rows.filter((row) => kindOf(row.sk) !== undefined);
    const messages = records.filter((row) => kindOf(row.sk) === 'message');
    removed += await removeRows(table, scope, messages);
    await removeRows(
      table,
      scope,
      records.filter((row) => kindOf(row.sk) === 'capsule'),
    );
    await pMap(
      rows.filter((row) => kindOf(row.sk) === undefined),
      ({ sk }) =>
        table.client.send(
          new DeleteItemCommand({
            TableName: table.tableName,
            Key: itemKey({ pk: memoryPartition(scope), sk }),
          }),
        ),
      { concurrency: memoryConcurrency },
    );
    startKey = LastEvaluatedKey?.pk === undefined ? undefined : LastEvaluatedKey;
  } while (startKey !== undefined);
  return removed;
}
