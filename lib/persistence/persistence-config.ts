import type { Clock } from '../clock.ts';
import type { SnapshotStore } from './snapshot-store.ts';
import type { KeyConfig } from './store-key.ts';

/** Where and how agents are persisted. */
export interface PersistenceConfig<Store extends SnapshotStore = SnapshotStore> extends KeyConfig {
  readonly store: Store;
  readonly clock?: Clock | undefined;
}
