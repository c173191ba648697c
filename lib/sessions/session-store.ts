import type { Session } from './session.ts';

export interface Registration {
  readonly session: Session;
  /** The session was not registered before. */
  readonly created: boolean;
}

export interface SessionShardQuery {
  readonly agent: string;
  /** From 0 to `sessionShards` - 1. */
  readonly shard: number;
  readonly limit: number;
  /** The id after which the page starts. It need not be registered (any more). */
  readonly after?: string | undefined;
}

export interface SessionPage {
  readonly items: readonly Session[];
  /** Hand it back as `after` for the next page; absent on the last one. */
  readonly next?: string | undefined;
}

/**
 * Which sessions an agent has. Those of one agent lie in `sessionShards` shards, each session always in the same one,
 * so that registering and iterating scale past one partition. Every failure rejects `UnavailableError`.
 */
export interface SessionStore {
  /** Idempotent, also when several callers register at once: one of them creates. Keeps `registeredAt`, replaces `meta`. */
  register(agent: string, session: { id: string; meta: Session['meta']; at: Date }): Promise<Registration>;
  /** Sets `lastActiveAt`. Resolves false, and registers nothing, when there is no such session. */
  touch(agent: string, id: string, at: Date): Promise<boolean>;
  /** Resolves undefined only when it is not registered. */
  get(agent: string, id: string): Promise<Session | undefined>;
  /**
   * Resolves false when it was not registered. Its memory stays. With `onlyIf`, a session that was registered anew since
   * it was seen so, with another `meta`, stays registered: false.
   */
  deregister(agent: string, id: string, onlyIf?: Pick<Session, 'meta'>): Promise<boolean>;
  /** One page of one shard, in an order that does not change between pages. */
  listShard(query: SessionShardQuery): Promise<SessionPage>;
}
