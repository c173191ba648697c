import { DeleteItemCommand, UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import type { MemoryScope } from '../memory/memory-store.ts';
import { deleteChunkRows } from './chunk-rows.ts';
import { ExpressionParts } from './expression.ts';
import { limboPlace, memoryPartition } from './memory-keys.ts';
import type { RecordRow } from './memory-record.ts';
import type { Item } from './snapshot-head.ts';
import { formatChunkSet, parseChunkSet } from './snapshot-keys.ts';
import { itemKey, type SnapshotTable } from './snapshot-table.ts';
import { isConditionFailure, wasRetried } from './translate-error.ts';

/**
 * Removes a record that was read, unless it was replaced or removed since: then resolves false.
 * Without chunk rows: one conditional delete.
 * With chunk rows: 1. put the item in limbo and claim its sets, from which moment nothing is stored and no writer can
 * commit, 2. delete the rows, 3. delete the item. A crash after 1 leaves it in limbo, for the next one who forgets.
 */
export async function removeRecord(
  table: SnapshotTable,
  scope: MemoryScope,
  row: RecordRow,
): Promise<boolean> {
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
