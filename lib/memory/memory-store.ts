import type { Dump } from '../persistence/snapshot-store.ts';

/** Whose memory: one session of one agent. */
export interface MemoryScope {
  readonly agent: string;
  readonly session: string;
}

/** What lies in a session in order of time: raw messages, and the capsules made of them. */
export type RecordKind = 'message' | 'capsule';

export interface NewRecord {
  readonly id: string;
  /** Epoch milliseconds; without it, the time at which the request was first received. */
  readonly at: number | undefined;
  readonly dump: Dump;
  /** Tells whether what is sent later under the id is the same. */
  readonly digest: Uint8Array;
}

export interface AppendRequest {
  /** In the order in which they arrive; no id twice. */
  readonly records: readonly NewRecord[];
  readonly receivedAt: number;
  /** Records expire this long after their own time. `undefined`: never. */
  readonly retentionSecs: number | undefined;
  /** Names the request when it may be sent again, so that its records then get the places they got at first. */
  readonly requestId: string | undefined;
  /**
   * Decides whether the session may be written to. Asked when every forget that begins from then on knows of the call,
   * and before anything is stored: what it throws, the call rejects.
   */
  readonly admit?: (() => Promise<void>) | undefined;
  /** Nothing of the session may have been forgotten since; otherwise the call rejects `ForgottenMeanwhileError`. */
  readonly since?: Moment | undefined;
}

/** A moment in a session's life: what has arrived, and what was forgotten, before it. */
export interface Moment {
  /** No record that arrived before it has a higher `arrival`, and none that arrives after it an equal or lower one. */
  readonly arrivals: number;
  readonly forgets: number;
}

export interface StoredRecord {
  readonly id: string;
  readonly at: number;
  readonly expiresAt: Date | undefined;
  readonly dump: Dump;
  /** When it arrived, in the order of calls: see `Moment`. */
  readonly arrival: number;
  /** Absent where it was stored by a release that kept none. */
  readonly digest?: Uint8Array | undefined;
}

export type Appended =
  | {
      /** What is stored under the id now. */
      readonly record: StoredRecord;
      /** False when something was stored under the id before: that is what `record` is, and it keeps its place. */
      readonly created: boolean;
    }
  /** A message of this id is in a capsule already. Nothing was stored. */
  | { readonly compacted: CompactedRecord };

export interface CompactedRecord {
  readonly id: string;
  readonly at: number;
  readonly digest: Uint8Array;
}

/** Bounds are epoch milliseconds and inclusive. */
export interface TimeRange {
  readonly from?: number | undefined;
  readonly to?: number | undefined;
}

export interface RecordQuery extends TimeRange {
  readonly order: 'asc' | 'desc';
  readonly limit: number;
  /** The `next` of another page of the same records, in either order. */
  readonly after?: string | undefined;
}

export interface RecordPage {
  readonly items: readonly StoredRecord[];
  /** Hand it back as `after` for the next page; absent on the last one. */
  readonly next?: string | undefined;
}

/**
 * Where named values lie: the data of a user in a session, what capsules of a session were made of that may be gone
 * themselves, or the knowledge of an agent.
 */
export type ValueScope =
  | { readonly kind: 'lineage'; readonly agent: string; readonly session: string }
  | { readonly kind: 'user'; readonly agent: string; readonly session: string; readonly identity: string }
  | { readonly kind: 'knowledge'; readonly agent: string };

export interface NamedValue {
  readonly key: string;
  readonly dump: Dump;
}

export interface ValueQuery {
  readonly limit: number;
  /** The `next` of the page before: the key that ended it. */
  readonly after?: string | undefined;
}

export interface ValuePage {
  readonly items: readonly NamedValue[];
  /** Set where another value follows. */
  readonly next?: string | undefined;
}

/**
 * Where memory goes. The order of records is total and stable: by time, then by arrival. A record is stored under its
 * id once; it never changes, and two scopes share nothing. Expired records are absent in every
 * respect but for `prune`, which tells of what it found.
 * Failures reject `UnavailableError`; stored bytes that cannot be read, `CorruptError`.
 */
export interface MemoryStore {
  /**
   * Stores what is not stored yet under its id. Rejects `NotStoredError` naming what could not be stored; sending the
   * same request again then stores the rest, in the places they would have had.
   */
  append(scope: MemoryScope, kind: RecordKind, request: AppendRequest): Promise<readonly Appended[]>;
  get(scope: MemoryScope, kind: RecordKind, id: string): Promise<StoredRecord | undefined>;
  list(scope: MemoryScope, kind: RecordKind, query: RecordQuery): Promise<RecordPage>;
  /** The moment of now. */
  moment(scope: MemoryScope): Promise<Moment>;
  /**
   * Begins a forget: a call that began before it and has not stored by now is refused by itself, and starts over as a new
   * one. Resolves its moment.
   */
  beginForget(scope: MemoryScope): Promise<Moment>;
  /**
   * Removes the live records of a range, or of these ids, and resolves how many. No call that began before `moment` can
   * store one of them again.
   */
  forgetRange(scope: MemoryScope, kind: RecordKind, range: TimeRange, moment: Moment): Promise<number>;
  forgetIds(scope: MemoryScope, kind: RecordKind, ids: readonly string[], moment: Moment): Promise<number>;
  /**
   * Removes the messages of these ids that had arrived by `moment`: a capsule stands for them. Their ids stay taken, by
   * what was removed. Resolves how many.
   */
  removeCompacted(
    scope: MemoryScope,
    ids: readonly string[],
    moment: Pick<Moment, 'arrivals'>,
  ): Promise<number>;
  /** What was known of these as compacted is forgotten: the capsule that stood for them is. */
  releaseCompacted(scope: MemoryScope, ids: readonly string[], moment: Moment): Promise<void>;
  /** Which of these messages have been forgotten, as far as that is still known: for a day. */
  forgottenAmong(scope: MemoryScope, ids: readonly string[]): Promise<readonly string[]>;
  /** Removes what is from `to` or before. Resolves how many records: also those that had expired, but were still stored. */
  prune(scope: MemoryScope, kind: RecordKind, to: number): Promise<number>;
  /** Removes all that belongs to the session: messages, capsules, data of its users. Resolves how many live messages. */
  forgetScope(scope: MemoryScope): Promise<number>;

  /** Replaces what was stored under the key by an earlier call. `admit` and `since` as for `append`. */
  putValue(
    scope: ValueScope,
    key: string,
    dump: Dump,
    options?: Pick<AppendRequest, 'admit' | 'since'>,
  ): Promise<void>;
  getValue(scope: ValueScope, key: string): Promise<Dump | undefined>;
  /** One page, in the order of the keys' UTF-8 bytes. */
  listValues(scope: ValueScope, query: ValueQuery): Promise<ValuePage>;
  /** Resolves false when nothing was stored under the key. */
  forgetValue(scope: ValueScope, key: string): Promise<boolean>;
  /** The identities that have data in the session, in order. */
  listIdentities(scope: MemoryScope): Promise<readonly string[]>;
}
