import type { Clock } from '../clock.ts';
import type { Dump, SnapshotStore } from './snapshot-store.ts';
import type { KeyConfig } from './store-key.ts';

/** Where and how agents are persisted. */
export interface PersistenceConfig<Store extends SnapshotStore = SnapshotStore> extends KeyConfig {
  readonly store: Store;
  readonly clock?: Clock | undefined;
  /** A last look at what would be stored: rejecting refuses it, and the snapshot before stays. */
  readonly accept?: ((dump: Dump) => Promise<void>) | undefined;
}
