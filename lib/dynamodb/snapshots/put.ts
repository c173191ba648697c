import { UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { lanesKept, lanesTrimmedAtOnce, raceAttempts, snapshotMaxBytes } from '../../defaults.ts';
import { ConflictError, TooLargeError, UnavailableError } from '../../errors.ts';
import { preconditionsHold } from '../../persistence/preconditions.ts';
import type { Dump, PutOptions, PutReceipt } from '../../persistence/snapshot-store.ts';
import { type ChunkSet, formatChunkSet, writeChunkRows } from '../chunk-rows.ts';
import { ExpressionParts } from '../expression.ts';
import { type ItemKey, itemKey } from '../item.ts';
import type { Lane, Turn } from '../lanes.ts';
import { isConditionFailure } from '../translate-error.ts';
import { ttlOf } from '../ttl.ts';
import { appliedCommit, ChunksClaimedError, commitSnapshot, type SnapshotWrite } from './commit.ts';
import { notApplied, preconditionClauses } from './conditions.ts';
import { fence } from './fence.ts';
import type { Head } from './head.ts';
import { headKey } from './keys.ts';
import { claimSets, removableSets, removeDeadSets, sweep } from './sweep.ts';
import { type HeadTable, liveSnapshot, readHead } from './table.ts';
import { settle, trimLanes } from './tombstone.ts';

/**
 * Stores a snapshot in place of the one before.
 * A small one: 1. commit the head, which holds the data.
 * A large one: 1. announce the chunk set in the head, 2. write the chunk rows, 3. commit the head, which points at them.
 * Either way, last: remove the chunk rows that the commit made superfluous. A crash at any point leaves the snapshot
 * before or this one, whole; what it leaves behind is named in the head (see sweep.ts). Announcement and commit each
 * take effect at most once, however often their requests arrive (see lanes.ts).
 */
export async function putSnapshot(
  table: HeadTable,
  storeKey: string,
  dump: Dump,
  options: PutOptions,
): Promise<PutReceipt> {
  if (dump.data.length > snapshotMaxBytes) throw new TooLargeError(dump.data.length, snapshotMaxBytes);
  const key = headKey(storeKey);
  const inline = dump.data.length <= table.inlineMaxBytes;
  return table.lanes.use(async (lane) => {
    for (let attempt = 0; attempt < raceAttempts; attempt++) {
      const write = { key, dump, options, etag: table.newEtag(), updatedAt: table.clock() };
      try {
        if (!inline) return await putChunked(table, storeKey, write, lane);
        const small = { chunkSet: undefined, rowsInDoubt: false };
        return await commitAndSweep(table, { ...write, ...small, turn: lane.turn() });
      } catch (error) {
        if (!(error instanceof ChunksClaimedError)) throw error;
      }
    }
    throw new UnavailableError('the key was forgotten during this write, again and again');
  });
}

async function putChunked(
  table: HeadTable,
  storeKey: string,
  undecided: Omit<SnapshotWrite, 'turn' | 'chunkSet' | 'rowsInDoubt'>,
  lane: Lane,
): Promise<PutReceipt> {
  const { dump, options, etag, updatedAt } = undecided;
  const count = Math.ceil(dump.data.length / table.chunkMaxBytes);
  const set: ChunkSet = { etag, count, announcedAt: updatedAt.getTime() };
  const announcement = lane.turn();
  let write = { ...undecided, turn: lane.turn(), chunkSet: formatChunkSet(set), rowsInDoubt: true };
  await announce(table, write, announcement);
  try {
    const ttl = options.expiresAt && ttlOf(options.expiresAt);
    const certain = await writeChunkRows(table, set, { data: dump.data, owner: storeKey, ttl });
    write = { ...write, rowsInDoubt: !certain };
    return await commitAndSweep(table, write);
  } catch (error) {
    // The commit may have taken effect although its answer, and that of every retry, was lost.
    const applied = await withdraw(table, write);
    if (applied !== undefined) return applied;
    throw error;
  }
}

/** Removes what a failed write left. Resolves the receipt of one that did take effect. */
async function withdraw(
  table: HeadTable,
  write: SnapshotWrite & { chunkSet: string },
): Promise<PutReceipt | undefined> {
  const { key, chunkSet, turn, rowsInDoubt } = write;
  try {
    if (await claimSets(table, key, [chunkSet])) {
      const head = await removeDeadSets(table, key, [chunkSet], rowsInDoubt ? undefined : chunkSet);
      if (head !== undefined) await settle(table, key, head, turn.lane);
      return undefined;
    }
    return appliedCommit(write, await readHead(table, key, 'info', turn.attribute))?.receipt;
  } catch {
    // The first error is the one to report. The rows stay named in the head, for the next writer.
    return undefined;
  }
}

async function commitAndSweep(table: HeadTable, write: SnapshotWrite): Promise<PutReceipt> {
  const { receipt, before } = await commitSnapshot(table, write);
  try {
    await sweepAfter(table, write, before);
  } catch {
    // The snapshot is safe by now: a failing clean-up must not make it look otherwise. The next write tries again.
  }
  return receipt;
}

/** Nothing to do after most writes. */
async function sweepAfter(table: HeadTable, write: SnapshotWrite, before: Head): Promise<void> {
  const { key, chunkSet, turn } = write;
  const claim = removableSets(before, chunkSet, table.clock());
  const expires = write.options.expiresAt !== undefined;
  if (expires && before.sets.some((set) => set !== chunkSet)) await keepNames(table, write);
  const head = await sweep(table, key, claim, before);
  if (head !== undefined) await settle(table, key, head, turn.lane);
  const over = table.lanes.over(before.lanes, turn.attribute);
  if (over.length > lanesKept) await trimLanes(table, key, over.slice(0, lanesTrimmedAtOnce));
}

/** The head names rows of others, which may have no time to live: it must not expire before they are gone. */
async function keepNames(table: HeadTable, { key, etag }: SnapshotWrite): Promise<void> {
  const parts = new ExpressionParts();
  await table.client.send(
    new UpdateItemCommand({
      TableName: table.tableName,
      Key: itemKey(key),
      UpdateExpression: `REMOVE ${parts.name('ttl')}`,
      ConditionExpression: `etag = ${parts.value({ S: etag })}`,
      ...parts.attributes,
    }),
  );
}

/**
 * Names the chunk set in the head, and refuses a writer whose precondition fails already, before it sends megabytes.
 * From here the head does not expire: nobody would find the rows of a writer that dies.
 */
async function announce(
  table: HeadTable,
  { key, chunkSet, options }: SnapshotWrite & { chunkSet: string },
  turn: Turn,
): Promise<void> {
  let conditions = options;
  for (let attempt = 0; attempt < raceAttempts; attempt++) {
    if (await addSet(table, key, { chunkSet, conditions, turn })) return;
    const head = await readHead(table, key, 'info', turn.attribute);
    if (turn.versionFound(head.lanes) !== undefined) {
      if (head.sets.includes(chunkSet)) return;
      throw new ChunksClaimedError('the chunk rows of this write are being removed');
    }
    const live = liveSnapshot(head, table.clock());
    if (!preconditionsHold(options, live?.etag)) {
      if (await fence(table, key, turn, head)) throw new ConflictError(live?.etag);
      continue;
    }
    // They met a snapshot that has expired: the commit decides.
    conditions = {};
  }
  throw new UnavailableError('other writers of this key were faster, again and again');
}

async function addSet(
  table: HeadTable,
  key: ItemKey,
  { chunkSet, conditions, turn }: { chunkSet: string; conditions: PutOptions; turn: Turn },
): Promise<boolean> {
  const parts = new ExpressionParts();
  const mark = parts.value(turn.mark);
  const added = `ADD ${parts.name('sets')} ${parts.value({ SS: [chunkSet] })}`;
  const request = new UpdateItemCommand({
    TableName: table.tableName,
    Key: itemKey(key),
    UpdateExpression: `${added} SET ${turn.attribute} = ${mark} REMOVE ${parts.name('ttl')}, gone`,
    ConditionExpression: [...preconditionClauses(conditions, parts), notApplied(turn, mark)].join(' AND '),
    ...parts.attributes,
  });
  try {
    await turn.watch(() => table.client.send(request));
    return true;
  } catch (error) {
    if (isConditionFailure(error)) return false;
    throw error;
  }
}
