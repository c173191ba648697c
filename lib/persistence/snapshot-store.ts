/** How a state was turned into bytes: as JSON text, as devalue text (types that JSON loses), or not at all. */
export type DumpFormat = 'json' | 'rich' | 'bytes';

/** A state packed for storage. A store keeps it as it is and needs to understand none of it. */
export interface Dump {
  readonly format: DumpFormat;
  readonly contentType: string;
  readonly encoding: 'gzip' | 'identity';
  /** Size of the state before compression. */
  readonly bytes: number;
  /** SHA-256 of `data`. */
  readonly checksum: Uint8Array;
  readonly data: Uint8Array;
}

/** What is known of a stored snapshot without reading its data. */
export interface SnapshotInfo {
  readonly etag: string;
  /** 1 for the first snapshot under a key, one more with each that replaces it. */
  readonly version: number;
  readonly format: DumpFormat;
  readonly contentType: string;
  readonly encoding: 'gzip' | 'identity';
  readonly bytes: number;
  readonly storedBytes: number;
  readonly updatedAt: Date;
  readonly expiresAt?: Date | undefined;
}

export interface Snapshot extends SnapshotInfo {
  readonly dump: Dump;
}

/** `'*'` is "anything at all"; otherwise the ETags of which one must (`ifMatch`) or none may (`ifNoneMatch`) be the current one. */
export interface Preconditions {
  readonly ifMatch?: '*' | readonly string[] | undefined;
  readonly ifNoneMatch?: '*' | readonly string[] | undefined;
}

export interface PutOptions extends Preconditions {
  readonly expiresAt?: Date | undefined;
}

export interface PutReceipt {
  readonly etag: string;
  readonly version: number;
  readonly updatedAt: Date;
  /** Nothing was stored under the key before, or what was had expired. */
  readonly created: boolean;
}

/**
 * Where snapshots go. A store keeps whole snapshots: a reader gets exactly what one `put` stored, an interrupted
 * `put` changes nothing, an ETag never comes back. An expired snapshot is absent in every respect.
 */
export interface SnapshotStore {
  /** Resolves undefined only when nothing is stored; rejects `CorruptError` or `UnavailableError` otherwise. */
  get(key: string): Promise<Snapshot | undefined>;
  /** Replaces the snapshot whole. Rejects `ConflictError` when a precondition does not hold, and stores nothing. */
  put(key: string, dump: Dump, options?: PutOptions): Promise<PutReceipt>;
  /** Deleting what is not there is fine, unless `ifMatch` asks for it. */
  delete(key: string, options?: Preconditions): Promise<void>;
}

export interface ListedSnapshot extends SnapshotInfo {
  readonly key: string;
}

export interface SnapshotPage {
  readonly items: readonly ListedSnapshot[];
  /** Where the next page starts; absent on the last one. Only meant to be handed back. */
  readonly next?: string | undefined;
}

export interface ListSnapshotsQuery {
  /** The part of a store key before its first `/`: `storeKeyScope(...)`. */
  readonly scope: string;
  readonly prefix?: string | undefined;
  readonly limit: number;
  readonly after?: string | undefined;
}

/** What the HTTP API needs beyond storing; all three built-in stores have it. */
export interface SnapshotCatalog extends SnapshotStore {
  get(key: string): Promise<Snapshot | undefined>;
  /**
   * Where `isWanted` says no to what is known without the data, the data need not be read, and that much is resolved.
   * It may be asked again, about a snapshot that has replaced the first. It must not throw.
   */
  get(key: string, isWanted: (info: SnapshotInfo) => boolean): Promise<Snapshot | SnapshotInfo | undefined>;
  /** As `get`, without reading the data. */
  head(key: string): Promise<SnapshotInfo | undefined>;
  /** The live snapshots of one scope, each once, in an order that does not change between pages. */
  list(query: ListSnapshotsQuery): Promise<SnapshotPage>;
}
