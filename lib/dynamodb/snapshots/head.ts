import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import { CorruptError } from '../../errors.ts';
import type { Dump, DumpFormat, SnapshotInfo } from '../../persistence/snapshot-store.ts';
import { type ChunkSet, parseChunkSet } from '../chunk-rows.ts';
import type { Item } from '../item.ts';
import { type LaneMarks, laneMarksOf } from '../lanes.ts';

/** Written into every head; an item of another version is refused, not guessed at. */
const headVersion = '1';

/**
 * What a write has to know of the snapshot that is there. Read leniently: a damaged snapshot can still be replaced,
 * forgotten, and told from nothing.
 */
export interface StoredSnapshot {
  readonly etag: string;
  readonly version: number;
  readonly expiresAt: Date | undefined;
  /** Everything else, checked. Throws `CorruptError`. */
  info(): SnapshotInfo;
}

/**
 * A head item. `snapshot` is unset on a bare head: one that only keeps track of chunk rows, of a writer that has not
 * committed or of a snapshot that was forgotten, or that is the tombstone of a forgotten snapshot, which only keeps the
 * lanes. Readers take it for nothing stored.
 */
export interface Head {
  readonly snapshot: StoredSnapshot | undefined;
  /** The data itself, or the chunk set that holds it. */
  readonly body: Uint8Array | undefined;
  readonly chunks: ChunkSet | undefined;
  readonly checksum: Uint8Array;
  /** A request of one of the snapshot's chunk rows had no answer, and may still arrive. */
  readonly rowsInDoubt: boolean;
  /** Chunk sets whose rows may exist and may still be committed, or are. */
  readonly sets: readonly string[];
  /** Chunk sets whose rows may exist and can never be committed any more. */
  readonly dead: readonly string[];
  /** The writes that were applied to the item, by the lanes of their writers. */
  readonly lanes: LaneMarks;
  readonly exists: boolean;
  /** Has a `ttl`, some time after which DynamoDB removes the item. */
  readonly isTemporary: boolean;
}

/** Attributes that make a snapshot; removing them all leaves a bare head. Release 0.1 wrote `previousEtag`. */
export const snapshotAttributes = ['etag', 'previousEtag', 'version', 'info', 'body', 'chunks'] as const;

/** What `head` and `list` read: everything but the data. */
export const infoAttributes = ['pk', 'etag', 'version', 'info', 'chunks', 'sets', 'dead', 'ttl'] as const;

/** The `info` attribute: one map, so that the expression of a write stays short, which DynamoDB parses each time. */
export function formatInfo(
  dump: Dump,
  updatedAt: Date,
  expiresAt: Date | undefined,
  rowsInDoubt = false,
): AttributeValue {
  return {
    M: {
      v: { N: headVersion },
      format: { S: dump.format },
      contentType: { S: dump.contentType },
      encoding: { S: dump.encoding },
      bytes: { N: String(dump.bytes) },
      storedBytes: { N: String(dump.data.length) },
      checksum: { B: dump.checksum },
      updatedAt: { N: String(updatedAt.getTime()) },
      ...(expiresAt && { expiresAt: { N: String(expiresAt.getTime()) } }),
      ...(rowsInDoubt && { rowsInDoubt: { BOOL: true } }),
    },
  };
}

export function parseHead(item: Item): Head {
  return {
    snapshot: parseStored(item),
    body: item.body?.B,
    chunks: item.chunks?.S === undefined ? undefined : parseChunkSet(item.chunks.S),
    checksum: item.info?.M?.checksum?.B ?? new Uint8Array(),
    rowsInDoubt: item.info?.M?.rowsInDoubt?.BOOL ?? false,
    sets: item.sets?.SS ?? [],
    dead: item.dead?.SS ?? [],
    lanes: laneMarksOf(item),
    exists: item.pk !== undefined,
    isTemporary: item.ttl !== undefined,
  };
}

/** Nothing is stored and no chunk row is known. */
export function isEmptyHead({ snapshot, sets, dead }: Head): boolean {
  return snapshot === undefined && sets.length === 0 && dead.length === 0;
}

function parseStored(item: Item): StoredSnapshot | undefined {
  const etag = item.etag?.S;
  if (etag === undefined) {
    if (item.info === undefined && item.body === undefined && item.chunks === undefined) return undefined;
    // Something is stored, but it has lost its name: for a reader that is damage, never "nothing".
    return { etag: '', version: 0, expiresAt: undefined, info: () => missing('etag') };
  }
  const info = item.info?.M ?? {};
  const expiresAt = info.expiresAt?.N === undefined ? undefined : new Date(Number(info.expiresAt.N));
  const version = whole(item, 'version');
  return {
    ...{ etag, expiresAt },
    version: version ?? 0,
    info: () => ({ etag, version: version ?? missing('version'), ...parseInfo(info) }),
  };
}

export function parseInfo(info: Item): Omit<SnapshotInfo, 'etag' | 'version'> {
  if (info.v?.N !== headVersion)
    throw new CorruptError(`the head item has an unknown format version ${info.v?.N}`);
  const expiresAt = whole(info, 'expiresAt');
  return {
    format: oneOf<DumpFormat>(info, 'format', ['json', 'rich', 'bytes']),
    contentType: info.contentType?.S ?? missing('contentType'),
    encoding: oneOf(info, 'encoding', ['gzip', 'identity']),
    bytes: whole(info, 'bytes') ?? missing('bytes'),
    storedBytes: whole(info, 'storedBytes') ?? missing('storedBytes'),
    updatedAt: new Date(whole(info, 'updatedAt') ?? missing('updatedAt')),
    expiresAt: expiresAt === undefined ? undefined : new Date(expiresAt),
  };
}

function missing(name: string): never {
  throw new CorruptError(`the head item has no ${name}`);
}

function whole(item: Item, name: string): number | undefined {
  const value = Number(item[name]?.N ?? Number.NaN);
  return Number.isSafeInteger(value) && value >= 0 ? value : undefined;
}

function oneOf<T extends string>(item: Item, name: string, allowed: readonly T[]): T {
  const value = item[name]?.S;
  const known = allowed.find((one) => one === value);
  if (known === undefined) throw new CorruptError(`the head item has an unknown ${name}`);
  return known;
}
