import { UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { raceAttempts } from '../../defaults.ts';
import { ConflictError, UnavailableError } from '../../errors.ts';
import { preconditionsHold } from '../../persistence/preconditions.ts';
import type { Dump, PutOptions, PutReceipt } from '../../persistence/snapshot-store.ts';
import { ExpressionParts } from '../expression.ts';
import type { ItemKey } from '../item.ts';
import { itemKey } from '../item.ts';
import type { Turn } from '../lanes.ts';
import { isConditionFailure } from '../translate-error.ts';
import { ttlAfter, ttlOf } from '../ttl.ts';
import { notApplied, preconditionClauses, stillAnnounced, unexpired } from './conditions.ts';
import { fence } from './fence.ts';
import { formatInfo, type Head, parseHead } from './head.ts';
import { type HeadTable, liveSnapshot, readHead } from './table.ts';

/** One snapshot on its way into its head item. */
export interface SnapshotWrite {
  readonly key: ItemKey;
  readonly dump: Dump;
  readonly options: PutOptions;
  readonly etag: string;
  readonly updatedAt: Date;
  readonly turn: Turn;
  /** The announced chunk set that holds the data; undefined where the head holds it itself. */
  readonly chunkSet: string | undefined;
  /** A request of one of its rows had no answer. */
  readonly rowsInDoubt: boolean;
}

export interface Commit {
  readonly receipt: PutReceipt;
  /** The head just before, whose chunk rows are now superfluous; unset when the answer to the commit was lost. */
  readonly before: Head;
}

/** Somebody who forgot the key, or took this writer for dead, claimed its chunk rows: the write must start over. */
export class ChunksClaimedError extends UnavailableError {}

/**
 * Puts the snapshot into force with one conditional update of the head item: before it nothing of it is visible, after
 * it nothing of the one before. Rejects `ConflictError` when a precondition does not hold.
 *
 * A failed condition is looked into, because it has four causes: this very write was applied and its answer lost
 * (success, whatever happened since); a precondition (conflict, once no earlier try of this write can still be applied);
 * a snapshot that has expired but is still there (replaced as if it were absent); chunk rows that were claimed
 * (`ChunksClaimedError`).
 */
export async function commitSnapshot(table: HeadTable, write: SnapshotWrite): Promise<Commit> {
  const { key, options, chunkSet, turn } = write;
  let expiredEtag: string | undefined;
  for (let attempt = 0; attempt < raceAttempts; attempt++) {
    const request = new UpdateItemCommand(commitInput(table, write, expiredEtag));
    try {
      const { Attributes } = await turn.watch(() => table.client.send(request));
      return committed(write, parseHead(Attributes ?? {}), expiredEtag !== undefined);
    } catch (error) {
      if (!isConditionFailure(error)) throw error;
    }
    const head = await readHead(table, key, 'info', turn.attribute);
    const applied = appliedCommit(write, head);
    if (applied !== undefined) return applied;
    const live = liveSnapshot(head, table.clock());
    if (!preconditionsHold(options, live?.etag)) {
      if (await fence(table, key, turn, head)) throw new ConflictError(live?.etag);
      continue;
    }
    if (chunkSet !== undefined && !head.sets.includes(chunkSet)) {
      throw new ChunksClaimedError('the chunk rows of this write were removed by another call');
    }
    expiredEtag = live === undefined ? head.snapshot?.etag : undefined;
  }
  throw new UnavailableError('other writers of this key were faster, again and again');
}

function committed(write: SnapshotWrite, before: Head, hadExpired: boolean): Commit {
  const replaced = hadExpired ? undefined : before.snapshot;
  return { receipt: receiptOf(write, replaced?.version ?? 0, replaced === undefined), before };
}

/**
 * The commit as the head proves it, though no answer did; undefined when it was not applied. What was there before is
 * not known any more; only what the head still lists can be swept.
 */
export function appliedCommit(write: SnapshotWrite, head: Head): Commit | undefined {
  const versionFound = write.turn.versionFound(head.lanes);
  if (versionFound === undefined) return undefined;
  const before = { ...head, chunks: undefined };
  return { receipt: receiptOf(write, versionFound, versionFound === 0), before };
}

function receiptOf({ etag, updatedAt }: SnapshotWrite, versionFound: number, created: boolean): PutReceipt {
  return { etag, version: versionFound + 1, updatedAt, created };
}

/** One literal expression rather than a general builder: it is made, sent and parsed with every hibernate. */
function commitInput(table: HeadTable, write: SnapshotWrite, expiredEtag: string | undefined) {
  const { dump, options, updatedAt, chunkSet, turn } = write;
  const { expiresAt } = options;
  const parts = new ExpressionParts();
  const etag = parts.value({ S: write.etag });
  const info = parts.value(formatInfo(dump, updatedAt, expiresAt, write.rowsInDoubt));
  const data = parts.value(chunkSet === undefined ? { B: dump.data } : { S: chunkSet });
  const [holder, other] = chunkSet === undefined ? ['body', 'chunks'] : ['chunks', 'body'];
  const mark = parts.value(turn.mark);
  const ttl = parts.name('ttl');
  // The item outlives the snapshot by the time in which a lost request may arrive. Readers go by `info.expiresAt`.
  const removedAfter = expiresAt && Math.max(ttlOf(expiresAt), ttlAfter(updatedAt));
  const setTtl = removedAfter === undefined ? '' : `, ${ttl} = ${parts.value({ N: String(removedAfter) })}`;
  const removeTtl = expiresAt ? '' : `, ${ttl}`;
  // Counted by DynamoDB, so that no write has to read first. What replaces an expired snapshot is a first version.
  const one = parts.value({ N: '1' });
  const [setVersion, addVersion, found] =
    expiredEtag === undefined
      ? ['', ` ADD version ${one}`, `if_not_exists(version, ${parts.value({ N: '0' })}) + ${mark}`]
      : [`, version = ${one}`, '', mark];

  const replaceable =
    expiredEtag === undefined
      ? [...preconditionClauses(options, parts), unexpired(table.clock(), parts)]
      : [`etag = ${parts.value({ S: expiredEtag })}`];
  const announced = chunkSet === undefined ? [] : [stillAnnounced(data, parts)];
  return {
    TableName: table.tableName,
    Key: itemKey(write.key),
    UpdateExpression:
      `SET etag = ${etag}, info = ${info}, ${holder} = ${data}, ${turn.attribute} = ${found}` +
      `${setTtl}${setVersion} REMOVE ${other}, gone${removeTtl}${addVersion}`,
    ConditionExpression: [...replaceable, notApplied(turn, mark), ...announced].join(' AND '),
    ReturnValues: 'ALL_OLD' as const,
    ...parts.attributes,
  };
}
