import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import pMap from 'p-map';
import { type Clock, systemClock } from '../clock.ts';
import { chunkMaxBytes, memoryConcurrency, recordInlineMaxBytes } from '../defaults.ts';
import type { MemoryStore } from '../memory/memory-store.ts';
import { type NewEtag, randomEtag } from '../persistence/etag.ts';
import { appendRecords } from './memory-append.ts';
import { forgetIds, forgetRange, forgetScope } from './memory-forget.ts';
import { getRecord, getRow, listRecords } from './memory-read.ts';
import { forgetValue, listIdentities, listValues, putValue } from './memory-values.ts';
import type { SnapshotTable } from './snapshot-table.ts';
import { translated } from './translated.ts';

export interface DynamoDbMemoryOptions {
  readonly client: DynamoDBClient;
  readonly tableName: string;
  readonly clock?: Clock | undefined;
  /** Names chunk sets; no name may come twice. */
  readonly newEtag?: NewEtag | undefined;
  /** Records above this size go to chunk rows. Only tests have a reason to change these two. */
  readonly inlineMaxBytes?: number | undefined;
  readonly chunkMaxBytes?: number | undefined;
}

/**
 * Keeps memory in the sessions table. Why its items are laid out as they are: docs/decisions/0002-session-memory.md.
 *
 * @example
 * const store = dynamoDbMemoryStore({ client: new DynamoDBClient({}), tableName: 'dormouse-sessions' });
 */
export function dynamoDbMemoryStore(options: DynamoDbMemoryOptions): MemoryStore {
  const table: SnapshotTable = {
    client: options.client,
    tableName: options.tableName,
    clock: options.clock ?? systemClock,
    newEtag: options.newEtag ?? randomEtag,
    inlineMaxBytes: options.inlineMaxBytes ?? recordInlineMaxBytes,
    chunkMaxBytes: options.chunkMaxBytes ?? chunkMaxBytes,
  };
  return {
    append: (scope, kind, request) => translated(() => appendRecords(table, scope, kind, request)),
    get: (scope, kind, id) => translated(async () => (await getRecord(table, scope, kind, id))?.record),
    list: (scope, kind, query) => translated(() => listRecords(table, scope, kind, query)),
    forgetRange: (scope, kind, range) =>
      translated(async () => (await forgetRange(table, scope, kind, range)).visible),
    prune: (scope, kind, to) => translated(async () => (await forgetRange(table, scope, kind, { to })).all),
    forgetIds: (scope, kind, ids) =>
      translated(async () => {
        const rows = await pMap(ids, (id) => getRow(table, scope, kind, id), {
          concurrency: memoryConcurrency,
        });
        return forgetIds(table, scope, rows);
      }),
    forgetScope: (scope) => translated(() => forgetScope(table, scope)),
    putValue: (scope, key, dump) => translated(() => putValue(table, scope, key, dump)),
    listValues: (scope) => translated(() => listValues(table, scope)),
    forgetValue: (scope, key) => translated(() => forgetValue(table, scope, key)),
    listIdentities: (scope) => translated(() => listIdentities(table, scope)),
  };
}
