import type { Clock } from '../clock.ts';
import { inMemoryMemoryStore } from '../memory/in-memory-memory-store.ts';
import type { RuntimeStores } from './create-runtime.ts';
import { inMemoryCounters } from './in-memory-counters.ts';
import { inMemoryErrorLog } from './in-memory-error-log.ts';
import { inMemorySessionStore } from './in-memory-session-store.ts';

/**
 * Keeps sessions, memory, errors and counters in this process only: for tests, and for agents that need not outlive it.
 *
 * @example
 * const runtime = createRuntime('support', { stores: inMemoryStores() });
 */
export function inMemoryStores(options: { clock?: Clock | undefined } = {}): RuntimeStores {
  return {
    sessions: inMemorySessionStore(),
    memory: inMemoryMemoryStore(options),
    errors: inMemoryErrorLog(),
    counters: inMemoryCounters(),
  };
}
