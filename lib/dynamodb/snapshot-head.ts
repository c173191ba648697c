import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import { CorruptError } from '../persistence/persistence-error.ts';
import type { DumpFormat, SnapshotInfo } from '../persistence/snapshot-store.ts';
import { type ChunkSet, parseChunkSet } from './snapshot-keys.ts';

export type Item = Record<string, AttributeValue>;

/** Written into every head; an item of another version is refused, not guessed at. */
export const headVersion = '1';

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
 * committed or of a snapshot that was forgotten. Readers take it for nothing stored.
 */
export interface Head {
  readonly snapshot: StoredSnapshot | undefined;
  readonly previousEtag: string | undefined;
  /** The data itself, or the chunk set that holds it. */
  readonly body: Uint8Array | undefined;
  readonly chunks: ChunkSet | undefined;
  readonly checksum: Uint8Array;
  /** Chunk sets whose rows may exist and may still be committed, or are. */
  readonly sets: readonly string[];
  /** Chunk sets whose rows may exist and can never be committed any more. */
  readonly dead: readonly string[];
}

/** Attributes that make a snapshot; removing them all leaves a bare head. */
export const snapshotAttributes = [
  'v',
  'etag',
  'previousEtag',
  'version',
  'format',
  'contentType',
  'encoding',
  'bytes',
  'storedBytes',
  'checksum',
  'updatedAt',
  'expiresAt',
  'ttl',
  'body',
  'chunks',
] as const;

/** What `head` and `list` read: everything but the data. */
export const infoAttributes = snapshotAttributes.filter((name) => name !== 'body');

export function parseHead(item: Item): Head {
  return {
    snapshot: parseStored(item),
    previousEtag: item.previousEtag?.S,
    body: item.body?.B,
    chunks: item.chunks?.S === undefined ? undefined : parseChunkSet(item.chunks.S),
    checksum: item.checksum?.B ?? new Uint8Array(),
    sets: item.sets?.SS ?? [],
    dead: item.dead?.SS ?? [],
  };
}

function parseStored(item: Item): StoredSnapshot | undefined {
  const etag = item.etag?.S;
  if (etag === undefined) return undefined;
  const expiresAt = item.expiresAt?.N === undefined ? undefined : new Date(Number(item.expiresAt.N));
  return { etag, version: Number(item.version?.N ?? 0), expiresAt, info: () => parseInfo(item) };
}

function parseInfo(item: Item): SnapshotInfo {
  if (item.v?.N !== headVersion)
    throw new CorruptError(`the head item has an unknown format version ${item.v?.N}`);
  return {
    etag: text(item, 'etag'),
    version: whole(item, 'version'),
    format: oneOf<DumpFormat>(item, 'format', ['json', 'rich', 'bytes']),
    contentType: text(item, 'contentType'),
    encoding: oneOf(item, 'encoding', ['gzip', 'identity']),
    bytes: whole(item, 'bytes'),
    storedBytes: whole(item, 'storedBytes'),
    updatedAt: new Date(whole(item, 'updatedAt')),
    expiresAt: item.expiresAt === undefined ? undefined : new Date(whole(item, 'expiresAt')),
  };
}

function text(item: Item, name: string): string {
  const value = item[name]?.S;
  if (value === undefined) throw new CorruptError(`the head item has no ${name}`);
  return value;
}

function whole(item: Item, name: string): number {
  const value = Number(item[name]?.N ?? Number.NaN);
  if (!Number.isSafeInteger(value) || value < 0) throw new CorruptError(`the head item has no whole ${name}`);
  return value;
}

function oneOf<T extends string>(item: Item, name: string, allowed: readonly T[]): T {
  const value = text(item, name);
  const known = allowed.find((one) => one === value);
  if (known === undefined) throw new CorruptError(`the head item has an unknown ${name} '${value}'`);
  return known;
}
