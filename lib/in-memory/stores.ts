import type { Clock } from '../clock.ts';
import type { RuntimeStores } from '../runtime/create-runtime.ts';
import { inMemoryCounters } from './counters.ts';
import { inMemoryErrorLog } from './error-log.ts';
import { inMemoryMemoryStore } from './memory-store.ts';
import { inMemorySessionStore } from './session-store.ts';

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
