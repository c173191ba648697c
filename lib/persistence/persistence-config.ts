import type { Clock } from '../clock.ts';
import { InvalidOptionError } from '../errors.ts';
import type { Dump, SnapshotStore } from './snapshot-store.ts';
import type { KeyConfig } from './store-key.ts';

/** Where and how agents are persisted. */
export interface PersistenceConfig<Store extends SnapshotStore = SnapshotStore> extends KeyConfig {
  readonly store: Store;
  readonly clock?: Clock | undefined;
  /** A last look at what would be stored: rejecting refuses it, and the snapshot before stays. */
  readonly accept?: ((dump: Dump) => Promise<void>) | undefined;
}

/** The store of a config. One that was forgotten, or never made, is named: no store could have failed. */
export function storeOf<Store extends SnapshotStore>(config: PersistenceConfig<Store> | undefined): Store {
  const store: unknown = config?.store;
  if (typeof store === 'object' && store !== null) return store as Store;
  throw new InvalidOptionError(
    "the first argument has no 'store': pass { store: dynamoDbStore({ tableName }) }, or a fileStore or memoryStore",
  );
}
