import { inMemoryMemoryStore } from '../../lib/in-memory/memory-store.ts';
import { createMemory, type MemoryOptions } from '../../lib/memory/create-memory.ts';
import type { MemoryStore } from '../../lib/memory/memory-store.ts';
import { KEEP_EVERYTHING } from '../../lib/memory/retention.ts';
import { testClock } from './test-clock.ts';

/** The memory of `ann` in a session, in a store of its own, which a test may change: `changed` gets the store as it is. */
export function memoryUnderTest(
  changed: (store: MemoryStore) => Partial<MemoryStore> = () => ({}),
  options: Partial<MemoryOptions> = {},
) {
  const clock = testClock();
  const inner = inMemoryMemoryStore({ clock: clock.now });
  const store: MemoryStore = { ...inner, ...changed(inner) };
  const stores = { memory: store };
  const memory = createMemory(
    'support',
    's1',
    { id: 'ann' },
    { stores, policy: KEEP_EVERYTHING, clock: clock.now, ...options },
  );
  return { memory, store, clock };
}
