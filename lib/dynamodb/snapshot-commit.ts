import { UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { raceAttempts } from '../defaults.ts';
import { UnavailableError } from '../persistence/persistence-error.ts';
import { assertPreconditions } from '../persistence/preconditions.ts';
import type { Dump, PutOptions, PutReceipt } from '../persistence/snapshot-store.ts';
import { ExpressionParts } from './expression.ts';
import { notYetWritten, preconditionClauses, stillAnnounced, unexpired } from './snapshot-conditions.ts';
import { formatInfo, type Head, parseHead } from './snapshot-head.ts';
import type { ItemKey } from './snapshot-keys.ts';
import { itemKey, liveSnapshot, readHead, type SnapshotTable } from './snapshot-table.ts';
import { isConditionFailure } from './translate-error.ts';

/** One snapshot on its way into its head item. */
export interface SnapshotWrite {
  readonly key: ItemKey;
  readonly dump: Dump;
  readonly options: PutOptions;
  readonly etag: string;
  readonly updatedAt: Date;
  /** The announced chunk set that holds the data; undefined where the head holds it itself. */
  readonly chunkSet: string | undefined;
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
 * A failed condition is looked into, because it has five causes: this very write was applied and its answer lost
 * (success); likewise, and replaced since (success); a precondition (conflict); a snapshot that has expired but is
 * still there (replaced as if it were absent); chunk rows that were claimed (`ChunksClaimedError`).
 */
export async function commitSnapshot(table: SnapshotTable, write: SnapshotWrite): Promise<Commit> {
  let expiredEtag: string | undefined;
  for (let attempt = 0; attempt < raceAttempts; attempt++) {
    try {
      const { Attributes } = await table.client.send(
        new UpdateItemCommand(commitInput(table, write, expiredEtag)),
      );
      return committed(write, parseHead(Attributes ?? {}), expiredEtag !== undefined);
    } catch (error) {
      if (!isConditionFailure(error)) throw error;
    }
    const head = await readHead(table, write.key, 'info');
    if (head.snapshot?.etag === write.etag) return ownCommit(write, head, head.snapshot.version);
    if (head.previousEtag === write.etag) return ownCommit(write, head, (head.snapshot?.version ?? 2) - 1);
    const live = liveSnapshot(head, table.clock());
    assertPreconditions(write.options, live?.etag);
    if (write.chunkSet !== undefined && !head.sets.includes(write.chunkSet)) {
      throw new ChunksClaimedError('the chunk rows of this write were removed by another call');
    }
    expiredEtag = live === undefined ? head.snapshot?.etag : undefined;
  }
  throw new UnavailableError('other writers of this key were faster, again and again');
}

function committed(write: SnapshotWrite, before: Head, hadExpired: boolean): Commit {
  const replaced = hadExpired ? undefined : before.snapshot;
  const { etag, updatedAt } = write;
  const version = (replaced?.version ?? 0) + 1;
  return { receipt: { etag, version, updatedAt, created: replaced === undefined }, before };
}

/** What was there before is not known any more; only what the head still lists can be swept. */
function ownCommit({ etag, updatedAt }: SnapshotWrite, head: Head, version: number): Commit {
  const receipt = { etag, version, updatedAt, created: version === 1 };
  return { receipt, before: { ...head, chunks: undefined } };
}

/** DynamoDB's TTL is in whole epoch seconds. */
export function ttlOf(expiresAt: Date): number {
  return Math.floor(expiresAt.getTime() / 1000);
}

/** One literal expression rather than a general builder: it is made, sent and parsed with every hibernate. */
function commitInput(table: SnapshotTable, write: SnapshotWrite, expiredEtag: string | undefined) {
  const { dump, options, updatedAt, chunkSet } = write;
  const { expiresAt } = options;
  const parts = new ExpressionParts();
  const etag = parts.value({ S: write.etag });
  const info = parts.value(formatInfo(dump, updatedAt, expiresAt));
  const data = parts.value(chunkSet === undefined ? { B: dump.data } : { S: chunkSet });
  const [holder, other] = chunkSet === undefined ? ['body', 'chunks'] : ['chunks', 'body'];
  const ttl = parts.name('ttl');
  const setTtl = expiresAt && `, ${ttl} = ${parts.value({ N: String(ttlOf(expiresAt)) })}`;
  const removeTtl = expiresAt ? '' : `, ${ttl}`;
  // Counted by DynamoDB, so that no write has to read first. What replaces an expired snapshot is a first version.
  const one = parts.value({ N: '1' });
  const [setVersion, addVersion] =
    expiredEtag === undefined ? ['', ` ADD version ${one}`] : [`, version = ${one}`, ''];

  const replaceable =
    expiredEtag === undefined
      ? [...preconditionClauses(options, parts), unexpired(table.clock(), parts)]
      : [`etag = ${parts.value({ S: expiredEtag })}`];
  const announced = chunkSet === undefined ? [] : [stillAnnounced(data, parts)];
  return {
    TableName: table.tableName,
    Key: itemKey(write.key),
    UpdateExpression:
      `SET etag = ${etag}, info = ${info}, ${holder} = ${data}, previousEtag = if_not_exists(etag, ${etag})` +
      `${setTtl ?? ''}${setVersion} REMOVE ${other}${removeTtl}${addVersion}`,
    ConditionExpression: [...replaceable, notYetWritten(etag), ...announced].join(' AND '),
    ReturnValues: 'ALL_OLD' as const,
    ...parts.attributes,
  };
}
