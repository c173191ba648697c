import type { Clock } from '../clock.ts';
import type { Identity } from '../sessions/session.ts';
import type { MemoryScope, MemoryStore } from './memory-store.ts';
import type { RetentionPolicy } from './retention.ts';

/** What every function of a memory needs, resolved once. */
export interface MemoryContext {
  readonly store: MemoryStore;
  readonly scope: MemoryScope;
  readonly identity: Identity | undefined;
  readonly policy: RetentionPolicy;
  readonly clock: Clock;
  readonly newId: () => string;
  /** Rejects `SessionNotFoundError` where there is a registry, and the session is not in it. */
  readonly mustBeRegistered: () => Promise<void>;
}
