import type { AgentMemory } from '../memory/agent-memory.ts';
import type { RetentionPolicy } from '../memory/retention.ts';
import type { ErrorPage, LoggedError, NewError } from '../sessions/error-log.ts';
import type { Identity, Session } from '../sessions/session.ts';
import type { Registration, SessionPage } from '../sessions/session-store.ts';

export interface Paging {
  readonly limit?: number | undefined;
  /** The `next` of the page before. */
  readonly after?: string | undefined;
}

/**
 * An agent's sessions, error log and counters. Made by `createRuntime`. Every call rejects with a `DormouseError`:
 * `invalid_input` (names the field) or `unavailable` (the store failed).
 */
export interface AgentRuntime {
  readonly agent: string;
  readonly policy: RetentionPolicy;
  /** Idempotent: keeps `registeredAt`, replaces `meta` (a JSON object of up to 32 KB). */
  registerSession(id: string, meta?: Readonly<Record<string, unknown>>): Promise<Registration>;
  getSession(id: string): Promise<Session | undefined>;
  /** Resolves false when it was not registered. Its memory stays. */
  deregisterSession(id: string): Promise<boolean>;
  /**
   * Deregisters a session and removes all that is remembered of it. Nothing that began before comes back, and repeating
   * the call finishes what was interrupted. Rejects `forbidden_by_policy`, with nothing changed.
   */
  forgetSession(id: string): Promise<void>;
  /** All registered sessions, each once, read page by page: never all in memory. */
  listRegisteredSessions(): AsyncIterable<Session>;
  /** One page of them, 50 unless asked otherwise. */
  listSessionPage(paging?: Paging): Promise<SessionPage>;
  /** The memory of one of the agent's sessions; it need not be registered. */
  memory(session: string | Session, identity?: Identity): AgentMemory;
  /** Adds to the error log, which keeps the newest `maxErrors`. */
  recordError(error: NewError): Promise<LoggedError>;
  /** Newest first. */
  listErrors(paging?: Paging): Promise<ErrorPage>;
  /** Adds to a counter (1 unless given; whole numbers) and resolves its new value. */
  bumpCounter(name: string, by?: number): Promise<number>;
  getCounter(name: string): Promise<number>;
  now(): Date;
  nowEpochSecs(): number;
  /** Today's date in UTC, `2027-01-01`: a name for what is counted by the day. */
  todayBucket(): string;
  newId(): string;
}
