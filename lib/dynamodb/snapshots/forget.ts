import { UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { raceAttempts } from '../../defaults.ts';
import { ConflictError, UnavailableError } from '../../errors.ts';
import { preconditionsHold } from '../../persistence/preconditions.ts';
import type { Preconditions } from '../../persistence/snapshot-store.ts';
import { ExpressionParts } from '../expression.ts';
import { type ItemKey, itemKey } from '../item.ts';
import type { Lane, Turn } from '../lanes.ts';
import { isConditionFailure } from '../translate-error.ts';
import { ttlAfter } from '../ttl.ts';
import { notApplied, preconditionClauses, unexpired } from './conditions.ts';
import { fence } from './fence.ts';
import { type Head, isEmptyHead, parseHead, snapshotAttributes } from './head.ts';
import { headKey } from './keys.ts';
import { certainSet, removeDeadSets } from './sweep.ts';
import { type HeadTable, liveSnapshot, readHead } from './table.ts';
import { dropTombstone, settle } from './tombstone.ts';

/**
 * Deletes a snapshot and every chunk row of its key, also those of writers that died or are still at work (they start
 * over, after the delete). 1. turn the head into a tombstone: from this moment nothing is stored. One with chunk rows
 * still lists them: 2. delete the rows. Last, delete the tombstone, unless a request of some write may still arrive:
 * then it stays, for DynamoDB's TTL. Repeating the call finishes what a crash interrupted.
 *
 * A failed condition is looked into as that of a commit is (see commit.ts).
 */
export async function forgetSnapshot(
  table: HeadTable,
  storeKey: string,
  preconditions: Preconditions,
): Promise<void> {
  const key = headKey(storeKey);
  await table.lanes.use(async (lane) => {
    const turn = lane.turn();
    if (await buryChunkless(table, key, turn, preconditions)) return;
    for (let attempt = 0; attempt < raceAttempts; attempt++) {
      const head = await readHead(table, key, 'info', turn.attribute);
      if (turn.versionFound(head.lanes) !== undefined) return finish(table, key, lane, head);
      const live = liveSnapshot(head, table.clock());
      const refused = !preconditionsHold(preconditions, live?.etag);
      if (refused || isEmptyHead(head)) {
        if (!(await fence(table, key, turn, head))) continue;
        if (refused) throw new ConflictError(live?.etag);
        return finish(table, key, lane, head);
      }
      if (await buryAsRead(table, key, turn, head)) {
        return finish(table, key, lane, { ...head, snapshot: undefined, dead: namedSets(head) });
      }
    }
    throw new UnavailableError('other writers of this key were faster, again and again');
  });
}

/** The common case, one request: nothing has to be read, and no row has to go. Resolves false where it is not the case. */
async function buryChunkless(
  table: HeadTable,
  key: ItemKey,
  turn: Turn,
  preconditions: Preconditions,
): Promise<boolean> {
  const parts = new ExpressionParts();
  const clauses = ['attribute_exists(etag)', ...preconditionClauses(preconditions, parts)];
  if (clauses.length > 1) clauses.push(unexpired(table.clock(), parts));
  for (const name of ['sets', 'dead']) clauses.push(`attribute_not_exists(${parts.name(name)})`);
  const marker = table.newEtag();
  const before = await bury(table, key, turn, { parts, marker, conditions: clauses, sets: [], isLast: true });
  if (before === undefined) return false;
  await dropTombstone(table, key, marker, { marks: before.lanes, lane: turn.lane });
  return true;
}

/** Makes a tombstone of the head that was read. Resolves false when it has changed since. */
async function buryAsRead(table: HeadTable, key: ItemKey, turn: Turn, head: Head): Promise<boolean> {
  const parts = new ExpressionParts();
  const isLast = namedSets(head).length === 0;
  const readEtag = head.snapshot?.etag;
  const conditions = [
    readEtag
      ? `etag = ${parts.value({ S: readEtag })}`
      : 'attribute_exists(pk) AND attribute_not_exists(etag)',
    ...(isLast ? [`attribute_not_exists(${parts.name('sets')})`, 'attribute_not_exists(dead)'] : []),
  ];
  const marker = table.newEtag();
  return (await bury(table, key, turn, { parts, marker, conditions, sets: head.sets, isLast })) !== undefined;
}

/**
 * The update itself. A tombstone that still lists sets must not expire: nobody would find their rows.
 * Resolves the head before it; undefined where a condition does not hold.
 */
async function bury(
  table: HeadTable,
  key: ItemKey,
  turn: Turn,
  how: {
    parts: ExpressionParts;
    marker: string;
    conditions: readonly string[];
    sets: readonly string[];
    isLast: boolean;
  },
): Promise<Head | undefined> {
  const { parts, marker, conditions, sets, isLast } = how;
  const mark = parts.value(turn.mark);
  const ttl = parts.name('ttl');
  const setTtl = isLast ? `, ${ttl} = ${parts.value({ N: String(ttlAfter(table.clock())) })}` : '';
  const removed = isLast ? snapshotAttributes : [...snapshotAttributes, ttl];
  const claimed = sets.length > 0 ? parts.value({ SS: [...sets] }) : undefined;
  const claim = claimed ? ` ADD dead ${claimed} DELETE ${parts.name('sets')} ${claimed}` : '';
  const request = new UpdateItemCommand({
    TableName: table.tableName,
    Key: itemKey(key),
    UpdateExpression:
      `SET gone = ${parts.value({ S: marker })}, ${turn.attribute} = ${mark}${setTtl} ` +
      `REMOVE ${removed.join(', ')}${claim}`,
    ConditionExpression: [...conditions, notApplied(turn, mark)].join(' AND '),
    ReturnValues: 'ALL_OLD',
    ...parts.attributes,
  });
  try {
    const { Attributes } = await turn.watch(() => table.client.send(request));
    return parseHead(Attributes ?? {});
  } catch (error) {
    if (isConditionFailure(error)) return undefined;
    throw error;
  }
}

/** Nothing is stored any more: what is left to do has no condition. */
async function finish(table: HeadTable, key: ItemKey, lane: Lane, head: Head): Promise<void> {
  const after = head.dead.length > 0 ? await removeDeadSets(table, key, head.dead, certainSet(head)) : head;
  if (after !== undefined) await settle(table, key, after, lane);
}

function namedSets({ sets, dead }: Head): string[] {
  return [...new Set([...sets, ...dead])];
}
