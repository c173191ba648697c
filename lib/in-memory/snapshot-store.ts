import { systemClock } from '../clock.ts';
import { randomEtag } from '../persistence/etag.ts';
import { isLive } from '../persistence/expiry.ts';
import { pageCollector } from '../persistence/page-of.ts';
import { assertPreconditions } from '../persistence/preconditions.ts';
import { snapshotOf } from '../persistence/snapshot-of.ts';
import type { Snapshot, SnapshotCatalog } from '../persistence/snapshot-store.ts';
import type { StoreOptions } from '../persistence/store-options.ts';

/**
 * Keeps snapshots in this process only: for tests, and for agents that need not outlive it.
 *
 * @example
 * const store = memoryStore();
 * await hibernate({ store }, 'support', 'user-123', { mood: 'calm' });
 */
export function memoryStore({
  clock = systemClock,
  newEtag = randomEtag,
}: StoreOptions = {}): SnapshotCatalog {
  const snapshots = new Map<string, Snapshot>();

  const live = (key: string): Snapshot | undefined => {
    const snapshot = snapshots.get(key);
    return snapshot !== undefined && isLive(snapshot, clock()) ? snapshot : undefined;
  };

  return {
    async get(key) {
      return live(key);
    },
    async head(key) {
      return live(key);
    },
    async put(key, dump, options = {}) {
      const current = live(key);
      assertPreconditions(options, current?.etag);
      const snapshot = snapshotOf(dump, current, {
        etag: newEtag(),
        updatedAt: clock(),
        expiresAt: options.expiresAt,
      });
      snapshots.set(key, snapshot);
      const { etag, version, updatedAt } = snapshot;
      return { etag, version, updatedAt, created: current === undefined };
    },
    async delete(key, options = {}) {
      assertPreconditions(options, live(key)?.etag);
      snapshots.delete(key);
    },
    async list(query) {
      const found = pageCollector(query);
      for (const [key, snapshot] of snapshots) if (live(key)) found.add(key, snapshot);
      return found.page();
    },
  };
}
