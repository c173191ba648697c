import { DeleteItemCommand, UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { raceAttempts } from '../defaults.ts';
import { UnavailableError } from '../persistence/persistence-error.ts';
import { assertPreconditions } from '../persistence/preconditions.ts';
import type { Preconditions } from '../persistence/snapshot-store.ts';
import { ExpressionParts } from './expression.ts';
import { preconditionClauses, unexpired } from './snapshot-conditions.ts';
import { type Head, snapshotAttributes } from './snapshot-head.ts';
import { headKey, type ItemKey } from './snapshot-keys.ts';
import { itemKey, liveSnapshot, readHead, type SnapshotTable } from './snapshot-table.ts';
import { isEmptyHead, removeDeadSets } from './sweep.ts';
import { isConditionFailure, wasRetried } from './translate-error.ts';

/**
 * Deletes a snapshot and every chunk row of its key, also those of writers that died or are still at work (they start
 * over, after the delete). With chunk rows: 1. turn the head into a bare one that lists them, from which moment nothing
 * is stored, 2. delete the rows, 3. delete the head. Repeating the call finishes what a crash interrupted.
 */
export async function forgetSnapshot(
  table: SnapshotTable,
  storeKey: string,
  preconditions: Preconditions,
): Promise<void> {
  const key = headKey(storeKey);
  let conditions = preconditions;
  for (let attempt = 0; attempt < raceAttempts; attempt++) {
    let retried = false;
    try {
      await deleteChunkless(table, key, conditions);
      return;
    } catch (error) {
      if (!isConditionFailure(error)) throw error;
      retried = wasRetried(error);
    }
    const head = await readHead(table, key, 'info');
    // Gone after a retry: an earlier try of this very request, whose answer was lost, deleted it.
    if (retried && isEmptyHead(head)) return;
    if (head.snapshot === undefined && head.dead.length > 0) await removeDeadSets(table, key, head.dead);
    assertPreconditions(conditions, liveSnapshot(head, table.clock())?.etag);
    const rows = await makeBare(table, key, head);
    if (rows === undefined) continue;
    // From here on nothing is stored, as the caller asked: what is left to do has no condition any more.
    conditions = {};
    if (rows.length === 0) continue;
    await removeDeadSets(table, key, rows);
    return;
  }
  throw new UnavailableError('other writers of this key were faster, again and again');
}

/** The common case, one request: a head without chunk rows goes at once. */
async function deleteChunkless(
  table: SnapshotTable,
  key: ItemKey,
  preconditions: Preconditions,
): Promise<void> {
  const parts = new ExpressionParts();
  const clauses = preconditionClauses(preconditions, parts);
  if (clauses.length > 0) clauses.push(unexpired(table.clock(), parts));
  for (const name of ['sets', 'dead']) clauses.push(`attribute_not_exists(${parts.name(name)})`);
  await table.client.send(
    new DeleteItemCommand({
      TableName: table.tableName,
      Key: itemKey(key),
      ConditionExpression: clauses.join(' AND '),
      ...parts.attributes,
    }),
  );
}

/** Removes the snapshot from the head it was read from. Resolves the sets to delete; undefined when the head changed. */
async function makeBare(table: SnapshotTable, key: ItemKey, head: Head): Promise<string[] | undefined> {
  const parts = new ExpressionParts();
  const etag = parts.name('etag');
  const remove = snapshotAttributes.map((name) => parts.name(name)).join(', ');
  const sets = head.sets.length > 0 ? parts.value({ SS: [...head.sets] }) : undefined;
  const claim = sets && ` ADD ${parts.name('dead')} ${sets} DELETE ${parts.name('sets')} ${sets}`;
  const readEtag = head.snapshot?.etag;
  const unchanged = readEtag ? `${etag} = ${parts.value({ S: readEtag })}` : `attribute_not_exists(${etag})`;
  try {
    await table.client.send(
      new UpdateItemCommand({
        TableName: table.tableName,
        Key: itemKey(key),
        UpdateExpression: `REMOVE ${remove}${claim ?? ''}`,
        ConditionExpression: `attribute_exists(${parts.name('pk')}) AND ${unchanged}`,
        ...parts.attributes,
      }),
    );
    return [...new Set([...head.sets, ...head.dead])];
  } catch (error) {
    if (!isConditionFailure(error)) throw error;
    if (!wasRetried(error)) return undefined;
    // An earlier try of this very request may have done it, and its answer been lost.
    const now = await readHead(table, key, 'info');
    return now.snapshot === undefined ? [...now.dead] : undefined;
  }
}
