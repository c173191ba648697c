import { hash } from 'node:crypto';
import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { type Clock, systemClock } from '../../clock.ts';
import { chunkMaxBytes, recordInlineMaxBytes } from '../../defaults.ts';
import type { MemoryStore } from '../../memory/memory-store.ts';
import { type NewEtag, randomEtag } from '../../persistence/etag.ts';
import { boundedClient } from '../call-budget.ts';
import { Lanes } from '../lanes.ts';
import { translatedCall } from '../translated.ts';
import { appendRecords } from './append.ts';
import { readMoment } from './clock.ts';
import { forgottenAmong, releaseCompacted, removeCompacted } from './compacted.ts';
import { beginPartialForget, forgetIds, forgetRange, forgetScope, pruneRange } from './forget.ts';
import { type MemoryTable, SessionLanes } from './lanes.ts';
import { getRecord, listRecords } from './read.ts';
import { forgetValue, getValue, listIdentities, listValues, putValue } from './values.ts';

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
  const { clock = systemClock, newEtag = randomEtag } = options;
  const writer = hash('sha256', newEtag(), 'hex').slice(0, 12);
  const table: MemoryTable = {
    client: boundedClient(options.client),
    tableName: options.tableName,
    clock,
    newEtag,
    lanes: new SessionLanes(writer),
    writes: new Lanes(clock, writer),
    inlineMaxBytes: options.inlineMaxBytes ?? recordInlineMaxBytes,
    chunkMaxBytes: options.chunkMaxBytes ?? chunkMaxBytes,
  };
  return {
    append: (scope, kind, request) => translatedCall(() => appendRecords(table, scope, kind, request)),
    get: (scope, kind, id) => translatedCall(() => getRecord(table, scope, kind, id)),
    list: (scope, kind, query) => translatedCall(() => listRecords(table, scope, kind, query)),
    moment: (scope) => translatedCall(() => readMoment(table, scope)),
    beginForget: (scope) => translatedCall(() => beginPartialForget(table, scope)),
    forgetRange: (scope, kind, range, moment) =>
      translatedCall(() => forgetRange(table, scope, kind, range, moment)),
    forgetIds: (scope, kind, ids, moment) => translatedCall(() => forgetIds(table, scope, kind, ids, moment)),
    removeCompacted: (scope, ids, moment) => translatedCall(() => removeCompacted(table, scope, ids, moment)),
    releaseCompacted: (scope, ids, moment) =>
      translatedCall(() => releaseCompacted(table, scope, ids, moment)),
    forgottenAmong: (scope, ids) => translatedCall(() => forgottenAmong(table, scope, ids)),
    prune: (scope, kind, to) => translatedCall(() => pruneRange(table, scope, kind, { to })),
    forgetScope: (scope) => translatedCall(() => forgetScope(table, scope)),
    putValue: (scope, key, dump, putOptions) =>
      translatedCall(() => putValue(table, scope, key, dump, putOptions)),
    getValue: (scope, key) => translatedCall(() => getValue(table, scope, key)),
    listValues: (scope, query) => translatedCall(() => listValues(table, scope, query)),
    forgetValue: (scope, key) => translatedCall(() => forgetValue(table, scope, key)),
    listIdentities: (scope) => translatedCall(() => listIdentities(table, scope)),
  };
}
