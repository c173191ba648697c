import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { systemClock } from '../clock.ts';
import { chunkMaxBytes, inlineMaxBytes } from '../defaults.ts';
import { randomEtag } from '../persistence/etag.ts';
import type { SnapshotCatalog } from '../persistence/snapshot-store.ts';
import type { StoreOptions } from '../persistence/store-options.ts';
import { clientOfOneCall } from './call-budget.ts';
import { Lanes } from './lanes.ts';
import { forgetSnapshot } from './snapshots/forget.ts';
import { getSnapshot, headSnapshot } from './snapshots/get.ts';
import { listSnapshots } from './snapshots/list.ts';
import { putSnapshot } from './snapshots/put.ts';
import type { HeadTable } from './snapshots/table.ts';
import { translated } from './translated.ts';

export interface DynamoDbStoreOptions extends StoreOptions {
  /** A name of this store object that no other one has, of letters and digits. Only tests have a reason to give it. */
  readonly writer?: string | undefined;
  readonly tableName: string;
  /** Without it, one is made from the environment. */
  readonly client?: DynamoDBClient | undefined;
  /** Snapshots above this size go to chunk rows. Only tests have a reason to change these two. */
  readonly inlineMaxBytes?: number | undefined;
  readonly chunkMaxBytes?: number | undefined;
}

/**
 * Keeps snapshots in a DynamoDB table with a string partition key `pk`, a string sort key `sk` and the TTL attribute
 * `ttl`, as the stack makes it. Why the items are laid out as they are: docs/decisions/0001-snapshot-storage.md.
 *
 * @example
 * const store = dynamoDbStore({ tableName: 'dormouse-snapshots' });
 * const found = await thaw({ store }, 'support', 'user-123');
 */
export function dynamoDbStore(options: DynamoDbStoreOptions): SnapshotCatalog {
  const clock = options.clock ?? systemClock;
  const table: HeadTable = {
    client: options.client ?? new DynamoDBClient({}),
    tableName: options.tableName,
    clock,
    lanes: new Lanes(clock, options.writer),
    newEtag: options.newEtag ?? randomEtag,
    inlineMaxBytes: options.inlineMaxBytes ?? inlineMaxBytes,
    chunkMaxBytes: options.chunkMaxBytes ?? chunkMaxBytes,
  };
  const inOneCall = <T>(work: (table: HeadTable) => Promise<T>) =>
    translated(() => work({ ...table, client: clientOfOneCall(table.client) }));
  return {
    get: ((key, isWanted) => inOneCall((call) => getSnapshot(call, key, isWanted))) as SnapshotCatalog['get'],
    head: (key) => inOneCall((call) => headSnapshot(call, key)),
    put: (key, dump, putOptions = {}) => inOneCall((call) => putSnapshot(call, key, dump, putOptions)),
    delete: (key, preconditions = {}) => inOneCall((call) => forgetSnapshot(call, key, preconditions)),
    list: (query) => inOneCall((call) => listSnapshots(call, query)),
  };
}
