import { UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { raceAttempts, snapshotMaxBytes } from '../defaults.ts';
import { TooLargeError, UnavailableError } from '../persistence/persistence-error.ts';
import { assertPreconditions } from '../persistence/preconditions.ts';
import type { Dump, PutOptions, PutReceipt } from '../persistence/snapshot-store.ts';
import { writeChunkRows } from './chunk-rows.ts';
import { ExpressionParts } from './expression.ts';
import {
  ChunksClaimedError,
  type Commit,
  commitSnapshot,
  type SnapshotWrite,
  ttlOf,
} from './snapshot-commit.ts';
import { preconditionClauses } from './snapshot-conditions.ts';
import { type ChunkSet, formatChunkSet, headKey, type ItemKey } from './snapshot-keys.ts';
import { itemKey, liveSnapshot, readHead, type SnapshotTable } from './snapshot-table.ts';
import { claimUncommitted, removableSets, removeDeadSets, sweep } from './sweep.ts';
import { isConditionFailure } from './translate-error.ts';

/**
 * Stores a snapshot in place of the one before.
 * A small one: 1. commit the head, which holds the data.
 * A large one: 1. announce the chunk set in the head, 2. write the chunk rows, 3. commit the head, which points at them.
 * Either way, last: remove the chunk rows that the commit made superfluous. A crash at any point leaves the snapshot
 * before or this one, whole; what it leaves behind is named in the head (see sweep.ts).
 */
export async function putSnapshot(
  table: SnapshotTable,
  storeKey: string,
  dump: Dump,
  options: PutOptions,
): Promise<PutReceipt> {
  if (dump.data.length > snapshotMaxBytes) throw new TooLargeError(dump.data.length, snapshotMaxBytes);
  const key = headKey(storeKey);
  const inline = dump.data.length <= table.inlineMaxBytes;
  for (let attempt = 0; attempt < raceAttempts; attempt++) {
    const write = { key, dump, options, etag: table.newEtag(), updatedAt: table.clock() };
    try {
      return inline
        ? await commitAndSweep(table, { ...write, chunkSet: undefined })
        : await putChunked(table, storeKey, write);
    } catch (error) {
      if (!(error instanceof ChunksClaimedError)) throw error;
    }
  }
  throw new UnavailableError('the key was forgotten during this write, again and again');
}

async function putChunked(
  table: SnapshotTable,
  storeKey: string,
  write: Omit<SnapshotWrite, 'chunkSet'>,
): Promise<PutReceipt> {
  const { key, dump, options, etag, updatedAt } = write;
  const count = Math.ceil(dump.data.length / table.chunkMaxBytes);
  const set: ChunkSet = { etag, count, announcedAt: updatedAt.getTime() };
  const chunkSet = formatChunkSet(set);
  await announce(table, key, chunkSet, options);
  try {
    const ttl = options.expiresAt && ttlOf(options.expiresAt);
    await writeChunkRows(table, set, { data: dump.data, owner: storeKey, ttl });
    return await commitAndSweep(table, { ...write, chunkSet });
  } catch (error) {
    if (await withdraw(table, key, { set: chunkSet, etag })) throw error;
    // The commit took effect although its answer, and that of every retry, was lost.
    const { receipt } = await commitSnapshot(table, { ...write, chunkSet });
    return receipt;
  }
}

/** Removes what a failed write left. Resolves false when the write did take effect. */
async function withdraw(
  table: SnapshotTable,
  key: ItemKey,
  own: { set: string; etag: string },
): Promise<boolean> {
  try {
    if (!(await claimUncommitted(table, key, own))) return false;
    await removeDeadSets(table, key, [own.set]);
  } catch {
    // The first error is the one to report. The rows stay named in the head, for the next writer.
  }
  return true;
}

async function commitAndSweep(table: SnapshotTable, write: SnapshotWrite): Promise<PutReceipt> {
  const { receipt, before } = await commitSnapshot(table, write);
  await sweepAfter(table, write, before);
  return receipt;
}

/** The snapshot is safe by now: a failing clean-up must not make it look otherwise. The next write tries again. */
async function sweepAfter(
  table: SnapshotTable,
  write: SnapshotWrite,
  before: Commit['before'],
): Promise<void> {
  const claim = removableSets(before, write.chunkSet, table.clock());
  try {
    await sweep(table, write.key, claim, before.dead);
  } catch {
    return;
  }
}

/**
 * Names the chunk set in the head, and refuses a writer whose precondition fails already, before it sends megabytes.
 * Never a set that is being removed: the SDK's own retry of an announcement may arrive after a forget has claimed it.
 */
async function announce(
  table: SnapshotTable,
  key: ItemKey,
  chunkSet: string,
  options: PutOptions,
): Promise<void> {
  // The second time without the preconditions: they met a snapshot that has expired, and the commit decides.
  for (const conditions of [options, {}]) {
    try {
      await addSet(table, key, chunkSet, conditions);
      return;
    } catch (error) {
      if (!isConditionFailure(error)) throw error;
    }
    const head = await readHead(table, key, 'info');
    if (head.dead.includes(chunkSet))
      throw new ChunksClaimedError('the chunk rows of this write are being removed');
    assertPreconditions(options, liveSnapshot(head, table.clock())?.etag);
  }
  throw new UnavailableError('the key was forgotten during this write');
}

async function addSet(
  table: SnapshotTable,
  key: ItemKey,
  chunkSet: string,
  options: PutOptions,
): Promise<void> {
  const parts = new ExpressionParts();
  const notClaimed = `NOT contains(${parts.name('dead')}, ${parts.value({ S: chunkSet })})`;
  await table.client.send(
    new UpdateItemCommand({
      TableName: table.tableName,
      Key: itemKey(key),
      UpdateExpression: `ADD ${parts.name('sets')} ${parts.value({ SS: [chunkSet] })}`,
      ConditionExpression: [notClaimed, ...preconditionClauses(options, parts)].join(' AND '),
      ...parts.attributes,
    }),
  );
}
