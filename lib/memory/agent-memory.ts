import type { Clock } from '../clock.ts';
import type { Identity } from '../sessions/session.ts';
import type { MemoryScope, MemoryStore, Moment } from './memory-store.ts';
import type { Capsule, Message, NewMessage } from './message.ts';
import type { RetentionPolicy } from './retention.ts';
import type { Timestamp } from './timestamp.ts';

export interface RecentQuery {
  /** The first moment, inclusive. Not together with `hours`. */
  readonly since?: Timestamp | undefined;
  /** The last moment, inclusive. */
  readonly until?: Timestamp | undefined;
  /** Only messages of the last so many hours; a fraction is fine. */
  readonly hours?: number | undefined;
  /** Messages per page: 1 to 1000, 50 unless given. */
  readonly limit?: number | undefined;
  /** `asc`, oldest first, unless given. */
  readonly order?: 'asc' | 'desc' | undefined;
  /** The `next` of the page before. */
  readonly after?: string | undefined;
}

export interface MessagePage {
  readonly items: readonly Message[];
  /** Hand it back as `after` for the next page; absent on the last one. */
  readonly next?: string | undefined;
}

export interface NewCapsule extends Omit<Capsule, 'id' | 'createdAt' | 'metadata'> {
  /** Names the capsule; without it, one is made. A capsule never changes: the same id with other content is refused. */
  readonly id?: string | undefined;
  readonly metadata?: Capsule['metadata'] | undefined;
}

export interface CapsuleOptions {
  /**
   * When its messages were read, as `store.moment` told. Where something of the session has been forgotten since, the
   * call rejects `forgotten_meanwhile`.
   */
  readonly since?: Moment | undefined;
}

/** Messages from one moment to another, both inclusive, or those for which a predicate holds. */
export type MessageSelection =
  | { readonly from: Timestamp; readonly to: Timestamp }
  | { readonly where: (message: Message) => boolean | Promise<boolean> };

export interface Forgotten {
  readonly deleted: number;
  /**
   * How many capsules still hold something of it: those that cover the time of the range, or were made of one of the
   * messages that the predicate chose, and those that build on them.
   */
  readonly capsules: number;
}

export interface CapsulePage {
  readonly items: readonly Capsule[];
  readonly next?: string | undefined;
}

/** Everything an agent remembers of a session, and what it knows. Plain data; JSON carries it if JSON carries the contents. */
export interface ExportedMemory {
  readonly agent: string;
  readonly session: string;
  readonly exportedAt: string;
  readonly policy: string;
  readonly messages: readonly Message[];
  readonly capsules: readonly Capsule[];
  /** By identity, then by key. */
  readonly users: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  readonly knowledge: Readonly<Record<string, unknown>>;
}

/** A piece of an export. */
export type ExportedPart<M = Message, C = Capsule> =
  | { readonly kind: 'message'; readonly value: M }
  | { readonly kind: 'capsule'; readonly value: C }
  | { readonly kind: 'user'; readonly identity: string; readonly key: string; readonly value: unknown }
  | { readonly kind: 'knowledge'; readonly key: string; readonly value: unknown };

/**
 * What an agent remembers of one session, of the identity in it, and what it knows. Made by `createMemory`.
 *
 * Every call rejects with a `DormouseError`: `invalid_input` (names the field), `forbidden_by_policy` (all that export
 * or forget, where the policy does not allow it), `unavailable` (the store failed), `corrupt` (what is stored cannot be
 * read).
 */
export interface AgentMemory {
  readonly scope: MemoryScope;
  readonly identity: Identity | undefined;
  readonly policy: RetentionPolicy;
  readonly store: MemoryStore;
  readonly clock: Clock;

  /**
   * Stores one message, or up to 100 in their order, and resolves what is stored, in the order given. A message sent
   * again under its id is the same message: it keeps its place and its first timestamp. Rejects `id_conflict` when
   * another content or sender is stored under an id (the other messages of the call are stored), and `unavailable`
   * with the ids that are not stored: sending the same call again completes it.
   */
  remember(messages: NewMessage | readonly NewMessage[]): Promise<Message[]>;
  /** One page of messages, by timestamp, then by arrival. */
  recent(query?: RecentQuery): Promise<MessagePage>;
  /** Removes all that belongs to the session: messages, capsules, data of its users. Resolves how many messages. */
  forgetSession(): Promise<number>;
  /**
   * Removes the messages from `start` to `end`, both inclusive. Resolves how many. Capsules stay: see `forgetMessages`.
   */
  forgetSessionRange(start: Timestamp, end: Timestamp): Promise<number>;
  /** Removes the messages for which the predicate holds. Resolves how many. Capsules stay: see `forgetMessages`. */
  forgetSessionWhere(predicate: (message: Message) => boolean | Promise<boolean>): Promise<number>;
  /**
   * As the two, and tells how many capsules still hold something of what was forgotten: they stand for other messages
   * too. With `capsules: 'forget'` those go as well, and all that build on them.
   */
  forgetMessages(
    selection: MessageSelection,
    options?: { readonly capsules?: 'keep' | 'forget' | undefined },
  ): Promise<Forgotten>;
  /**
   * Removes the messages whose `source` is this id, or an object with it, every capsule that was made with one of them,
   * and those that build on such a capsule. Resolves how many of both.
   */
  forgetBySourceId(sourceId: string): Promise<number>;

  /** What is kept of the identity in this session. */
  getUserData(): Promise<Record<string, unknown>>;
  /** Sets one key; the others stay. Rejects `session_not_found` as `remember` does. */
  setUserData(key: string, value: unknown): Promise<void>;
  /** Resolves false when the key was not set. */
  forgetUserKey(key: string): Promise<boolean>;

  /** Keeps a piece of knowledge for the agent, in all of its sessions. */
  learn(key: string, value: unknown): Promise<void>;
  getKnowledge(): Promise<Record<string, unknown>>;
  /** Resolves false when the key was not known. */
  forgetKbKey(key: string): Promise<boolean>;

  /** All of it in memory at once. */
  exportMemory(): Promise<ExportedMemory>;
  /** The same piece by piece, for a session of any size: messages, capsules, data of users, knowledge. */
  exportParts(): AsyncIterable<ExportedPart>;

  /** A capsule of these messages, with its provenance, ready to be stored; it builds on `previous` where given. */
  capsuleFromWindow(window: readonly Message[], summary: unknown, previous?: Capsule): NewCapsule;
  /**
   * Stores a capsule; the same one again is the same one. Rejects `id_conflict` when another is stored under its id,
   * `invalid_input` when one of its messages has been forgotten, `session_not_found` as `remember` does.
   */
  storeCapsule(capsule: NewCapsule, options?: CapsuleOptions): Promise<Capsule>;
  getCapsule(id: string): Promise<Capsule | undefined>;
  /** One page, in the order in which they were made, unless asked for the newest first. */
  listCapsules(query?: Pick<RecentQuery, 'limit' | 'order' | 'after'>): Promise<CapsulePage>;
}
