import { UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { abandonedAfterMs } from '../../defaults.ts';
import {
  buryChunkRows,
  type ChunkedTable,
  type ChunkSet,
  deleteChunkRows,
  formatChunkSet,
  parseChunkSet,
} from '../chunk-rows.ts';
import { ExpressionParts } from '../expression.ts';
import { type ItemKey, itemKey } from '../item.ts';
import { isConditionFailure } from '../translate-error.ts';
import { type Head, parseHead } from './head.ts';

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
    return !isYoung(parseChunkSet(text), now);
  });
}

/** The set whose rows were all written for certain, where the head's snapshot has one: no request can arrive any more. */
export function certainSet({
  chunks,
  rowsInDoubt,
}: Pick<Head, 'chunks' | 'rowsInDoubt'>): string | undefined {
  return chunks === undefined || rowsInDoubt ? undefined : formatChunkSet(chunks);
}

/**
 * 1. move the sets from `sets` to `dead`, 2. delete their rows, 3. take them out of `dead`. A crash in between leaves
 * them in `dead`, for the next one who comes. Resolves the head after it; undefined where nothing was removed.
 */
export async function sweep(
  table: ChunkedTable,
  key: ItemKey,
  claim: readonly string[],
  before: Pick<Head, 'chunks' | 'rowsInDoubt' | 'dead'>,
): Promise<Head | undefined> {
  const claimed = claim.length > 0 && (await claimSets(table, key, claim)) ? claim : [];
  const all = [...new Set([...claimed, ...before.dead])];
  return all.length > 0 ? removeDeadSets(table, key, all, certainSet(before)) : undefined;
}

/**
 * Resolves false, and claims nothing, when one of the sets is in force, since a writer that seemed dead has committed
 * after all, or is not there any more.
 */
export async function claimSets(
  table: ChunkedTable,
  key: ItemKey,
  sets: readonly string[],
): Promise<boolean> {
  const parts = new ExpressionParts();
  const conditions = sets.flatMap((set) => {
    const value = parts.value({ S: set });
    return [`contains(${parts.name('sets')}, ${value})`, `NOT ${parts.name('chunks')} = ${value}`];
  });
  const moved = parts.value({ SS: [...sets] });
  try {
    await table.client.send(
      new UpdateItemCommand({
        TableName: table.tableName,
        Key: itemKey(key),
        UpdateExpression: `ADD ${parts.name('dead')} ${moved} DELETE ${parts.name('sets')} ${moved}`,
        ConditionExpression: conditions.join(' AND '),
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
 * Steps 2 and 3 of `sweep`, for sets that are in `dead` already. Where a request for a row may still arrive, a
 * tombstone takes the row's place: for any set announced of late but the `certain` one.
 * Resolves the head after it; undefined where there is none.
 */
export async function removeDeadSets(
  table: ChunkedTable,
  key: ItemKey,
  dead: readonly string[],
  certain?: string,
): Promise<Head | undefined> {
  const now = table.clock();
  const buried: ChunkSet[] = [];
  const deleted: ChunkSet[] = [];
  for (const text of dead) {
    const set = parseChunkSet(text);
    if (set !== undefined) (isYoung(set, now) && text !== certain ? buried : deleted).push(set);
  }
  await buryChunkRows(table, buried);
  await deleteChunkRows(table, deleted);
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
    return parseHead(Attributes);
  } catch (error) {
    if (isConditionFailure(error)) return undefined;
    throw error;
  }
}

/** Its writer may still be at work, or a request of it on its way. A name that cannot be read is an old one. */
function isYoung(set: ChunkSet | undefined, now: Date): boolean {
  return now.getTime() - (set?.announcedAt ?? 0) <= abandonedAfterMs;
}
