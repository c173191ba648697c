import { DeleteItemCommand, QueryCommand, UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { abandonedAfterMs, memoryConcurrency, raceAttempts } from '../defaults.ts';
import type { MemoryScope, RecordKind, TimeRange } from '../memory/memory-store.ts';
import { placesOf } from '../memory/record-place.ts';
import { UnavailableError } from '../persistence/persistence-error.ts';
import { deleteChunkRows } from './chunk-rows.ts';
import { ExpressionParts } from './expression.ts';
import { forEachSettled } from './for-each-settled.ts';
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

/** Resolves how many live records it removed. After a failure it waits for what is under way before it rejects. */
async function removeRows(
  table: SnapshotTable,
  scope: MemoryScope,
  rows: readonly RecordRow[],
): Promise<number> {
  let removed = 0;
  await forEachSettled(rows, memoryConcurrency, async (row) => {
    if ((await removeRecord(table, scope, row)) && isVisible(row, table.clock())) removed++;
  });
  return removed;
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

/**
 * Removes every item of the session's partition. Goes over it until it finds none: another call on the same session may
 * have been at work on a record, and may have died of it.
 */
export async function forgetScope(table: SnapshotTable, scope: MemoryScope): Promise<number> {
  let messages = 0;
  for (let attempt = 0; attempt < raceAttempts; attempt++) {
    let found = 0;
    for await (const rows of partitionPages(table, scope)) {
      found += rows.length;
      const ofKind = (kind: RecordKind | undefined) => rows.filter((row) => kindOf(row.sk) === kind);
      messages += await removeRows(table, scope, ofKind('message'));
      await removeRows(table, scope, ofKind('capsule'));
      await forEachSettled(ofKind(undefined), memoryConcurrency, ({ sk }) =>
        table.client.send(
          new DeleteItemCommand({
            TableName: table.tableName,
            Key: itemKey({ pk: memoryPartition(scope), sk }),
          }),
        ),
      );
    }
    if (found === 0) return messages;
  }
  throw new UnavailableError('others went on storing in the session, again and again');
}

async function* partitionPages(table: SnapshotTable, scope: MemoryScope): AsyncGenerator<RecordRow[]> {
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
    yield Items.map(parseRecord);
    startKey = LastEvaluatedKey?.pk === undefined ? undefined : LastEvaluatedKey;
  } while (startKey !== undefined);
}
