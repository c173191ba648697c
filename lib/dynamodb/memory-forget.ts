import { DeleteItemCommand, QueryCommand } from '@aws-sdk/client-dynamodb';
import { abandonedAfterMs, memoryConcurrency, raceAttempts } from '../defaults.ts';
import type { MemoryScope, RecordKind, TimeRange } from '../memory/memory-store.ts';
import { placesOf } from '../memory/record-place.ts';
import { UnavailableError } from '../persistence/persistence-error.ts';
import { ExpressionParts } from './expression.ts';
import { forEachSettled } from './for-each-settled.ts';
import { kindOf, limboPlace, memoryPartition, recordPlace } from './memory-keys.ts';
import { indexPages } from './memory-read.ts';
import { isInLimbo, isVisible, parseRecord, type RecordRow, removalAttributes } from './memory-record.ts';
import { removeRecord } from './memory-remove.ts';
import type { Item } from './snapshot-head.ts';
import { itemKey, type SnapshotTable } from './snapshot-table.ts';

/** Removes the records of a range, and what crashed writers and removers left in the session. */
export async function forgetRange(
  table: SnapshotTable,
  scope: MemoryScope,
  kind: RecordKind,
  range: TimeRange,
): Promise<Removed> {
  const { first, last } = placesOf(range);
  const bounds = { first: recordPlace(kind, first), last: recordPlace(kind, last) };
  const removed = await removeIndexed(table, scope, bounds);
  await sweepLimbo(table, scope);
  return removed;
}

/**
 * Records that a call removed: all that were in place, and those of them that a reader could still see. The others had
 * expired: DynamoDB takes its time to delete them.
 */
interface Removed {
  readonly all: number;
  readonly visible: number;
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
  return removed.visible;
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
): Promise<Removed> {
  let [all, visible] = [0, 0];
  for await (const rows of indexPages(table, scope, { ...bounds, attributes: removalAttributes })) {
    const removed = await removeRows(table, scope, rows);
    all += removed.all;
    visible += removed.visible;
  }
  return { all, visible };
}

/** After a failure it waits for what is under way before it rejects. */
async function removeRows(
  table: SnapshotTable,
  scope: MemoryScope,
  rows: readonly RecordRow[],
): Promise<Removed> {
  let [all, visible] = [0, 0];
  await forEachSettled(rows, memoryConcurrency, async (row) => {
    if (!(await removeRecord(table, scope, row)) || isInLimbo(row)) return;
    all++;
    if (isVisible(row, table.clock())) visible++;
  });
  return { all, visible };
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
      messages += (await removeRows(table, scope, ofKind('message'))).visible;
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
