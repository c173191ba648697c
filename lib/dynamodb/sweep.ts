import { DeleteItemCommand, UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { abandonedAfterMs } from '../defaults.ts';
import { deleteChunkRows } from './chunk-rows.ts';
import { ExpressionParts } from './expression.ts';
import { type Head, parseHead } from './snapshot-head.ts';
import { formatChunkSet, type ItemKey, parseChunkSet } from './snapshot-keys.ts';
import { itemKey, type SnapshotTable } from './snapshot-table.ts';
import { isConditionFailure } from './translate-error.ts';

/*
 * Every chunk row that may exist belongs to a set that is named in the head item: in `sets` from before its first row
 * is written, in `dead` until after its last row is deleted. So whoever writes or forgets a key next finds what a
 * crashed writer left. A commit needs its set in `sets`; moving it to `dead` is therefore what makes deleting safe.
 */

/** The sets of a head that a writer may remove: superseded by `current`, or announced so long ago that their writer died. */
export function removableSets(head: Head, current: string | undefined, now: Date): string[] {
  const superseded = head.chunks && formatChunkSet(head.chunks);
  return head.sets.filter((text) => {
    if (text === current) return false;
    if (text === superseded) return true;
    const announcedAt = parseChunkSet(text)?.announcedAt ?? 0;
    return now.getTime() - announcedAt > abandonedAfterMs;
  });
}

/**
 * 1. move the sets from `sets` to `dead`, 2. delete their rows, 3. take them out of `dead`, and the head with them if
 * nothing else is left in it. A crash in between leaves them in `dead`, for the next one who comes.
 */
export async function sweep(
  table: SnapshotTable,
  key: ItemKey,
  claim: readonly string[],
  dead: readonly string[],
) {
  const claimed = claim.length > 0 && (await claimSets(table, key, claim)) ? claim : [];
  const all = [...new Set([...claimed, ...dead])];
  if (all.length > 0) await removeDeadSets(table, key, all);
}

/**
 * Resolves false, and claims nothing, when one of the sets is in force: a writer that seemed dead has committed after all.
 */
async function claimSets(table: SnapshotTable, key: ItemKey, sets: readonly string[]): Promise<boolean> {
  const parts = new ExpressionParts();
  const inForce = sets.map((set) => `NOT ${parts.name('chunks')} = ${parts.value({ S: set })}`);
  return moveToDead(table, key, { sets, condition: inForce.join(' AND '), parts });
}

async function moveToDead(
  table: SnapshotTable,
  key: ItemKey,
  { sets, condition, parts }: { sets: readonly string[]; condition: string; parts: ExpressionParts },
): Promise<boolean> {
  const moved = parts.value({ SS: [...sets] });
  try {
    await table.client.send(
      new UpdateItemCommand({
        TableName: table.tableName,
        Key: itemKey(key),
        UpdateExpression: `ADD ${parts.name('dead')} ${moved} DELETE ${parts.name('sets')} ${moved}`,
        ConditionExpression: condition,
        ...parts.attributes,
      }),
    );
    return true;
  } catch (error) {
    if (isConditionFailure(error)) return false;
    throw error;
  }
}

/**
 * Claims one's own set after a write that failed.
 * Resolves false, and claims nothing, when the write was committed after all: the answer to it was lost.
 */
export async function claimUncommitted(
  table: SnapshotTable,
  key: ItemKey,
  own: { set: string; etag: string },
): Promise<boolean> {
  const parts = new ExpressionParts();
  const condition = `NOT ${parts.name('etag')} = ${parts.value({ S: own.etag })}`;
  return moveToDead(table, key, { sets: [own.set], condition, parts });
}

/** Steps 2 and 3 of `sweep`, for sets that are in `dead` already. */
export async function removeDeadSets(
  table: SnapshotTable,
  key: ItemKey,
  dead: readonly string[],
): Promise<void> {
  await deleteChunkRows(
    table,
    dead.map(parseChunkSet).filter((set) => set !== undefined),
  );
  const parts = new ExpressionParts();
  try {
    const { Attributes = {} } = await table.client.send(
      new UpdateItemCommand({
        TableName: table.tableName,
        Key: itemKey(key),
        UpdateExpression: `DELETE ${parts.name('dead')} ${parts.value({ SS: [...dead] })}`,
        ConditionExpression: `attribute_exists(${parts.name('pk')})`,
        ReturnValues: 'ALL_NEW',
        ...parts.attributes,
      }),
    );
    if (isEmptyHead(parseHead(Attributes))) await deleteEmptyHead(table, key);
  } catch (error) {
    if (!isConditionFailure(error)) throw error;
  }
}

/** Nothing is stored and no chunk row is known. */
export function isEmptyHead({ snapshot, sets, dead }: Head): boolean {
  return snapshot === undefined && sets.length === 0 && dead.length === 0;
}

async function deleteEmptyHead(table: SnapshotTable, key: ItemKey): Promise<void> {
  const parts = new ExpressionParts();
  const condition = ['etag', 'sets', 'dead']
    .map((name) => `attribute_not_exists(${parts.name(name)})`)
    .join(' AND ');
  await table.client.send(
    new DeleteItemCommand({
      TableName: table.tableName,
      Key: itemKey(key),
      ConditionExpression: condition,
      ...parts.attributes,
    }),
  );
}
