import { GetItemCommand, PutItemCommand } from '@aws-sdk/client-dynamodb';
import pMap from 'p-map';
import { intentMaxBytes, memoryConcurrency, raceAttempts, requestKnownForSecs } from '../../defaults.ts';
import { ForgottenMeanwhileError, NotStoredError, UnavailableError } from '../../errors.ts';
import type { Appended, AppendRequest, MemoryScope, RecordKind } from '../../memory/memory-store.ts';
import { placeRecords } from '../../memory/record-place.ts';
import { ExpressionParts } from '../expression.ts';
import { isConditionFailure, translateError } from '../translate-error.ts';
import { ttlIn } from '../ttl.ts';
import { numberOf } from './clock.ts';
import { recordSortKey, requestKey } from './keys.ts';
import type { MemoryTable } from './lanes.ts';
import { inTurn, type Turn } from './turn.ts';
import { storeRecord } from './write.ts';

/**
 * 1. take a turn: as many arrival numbers as there are records, and the announcement of their ids, 2. have the session
 * found registered, 3. where the request may be sent again, keep its numbers and its time under its name, or find those
 * of its first sending, 4. store each record in its place unless it is stored. What a forget refuses meanwhile starts
 * over at 1. A crash between any two writes leaves each record whole or absent, and the same request sent again stores
 * the others in the very places they would have had.
 */
export async function appendRecords(
  table: MemoryTable,
  scope: MemoryScope,
  kind: RecordKind,
  request: AppendRequest,
): Promise<readonly Appended[]> {
  const outcomes = new Map<string, Appended>();
  let left = request.records.map(({ id }) => id);
  for (let attempt = 0; attempt < raceAttempts && left.length > 0; attempt++) {
    const fenced: string[] = [];
    let origin: Origin | undefined;
    for (const ids of portionsOf(kind, left)) {
      const keys = ids.map((id) => recordSortKey(kind, id));
      const count = origin === undefined ? request.records.length : 0;
      await inTurn(table, scope, { ...request, keys, count }, async (turn) => {
        origin ??= await originOf(table, scope, request, turn);
        fenced.push(...(await storeAll(table, { scope, kind, request, origin, turn, ids, outcomes })));
      });
    }
    if (fenced.length > 0 && request.since !== undefined) throw new ForgottenMeanwhileError();
    left = fenced;
  }
  if (left.length > 0) throw new UnavailableError('others went on forgetting, again and again');
  return request.records.map(({ id }) => outcomes.get(id)).filter((outcome) => outcome !== undefined);
}

/** Ids that are announced together: what they take in the session's clock is read and written by every call. */
function portionsOf(kind: RecordKind, ids: readonly string[]): string[][] {
  const portions: string[][] = [];
  let bytes = intentMaxBytes;
  for (const id of ids) {
    bytes += Buffer.byteLength(recordSortKey(kind, id));
    if (bytes > intentMaxBytes) {
      portions.push([]);
      bytes = Buffer.byteLength(recordSortKey(kind, id));
    }
    portions.at(-1)?.push(id);
  }
  return portions;
}

interface Storing {
  readonly scope: MemoryScope;
  readonly kind: RecordKind;
  readonly request: AppendRequest;
  readonly origin: Origin;
  readonly turn: Turn;
  readonly ids: readonly string[];
  readonly outcomes: Map<string, Appended>;
}

/** Stores these records of the request, and resolves the ids of those that a forget has refused. */
async function storeAll(
  table: MemoryTable,
  { scope, kind, request, origin, turn, ids, outcomes }: Storing,
): Promise<string[]> {
  const wanted = new Set(ids);
  const placed = placeRecords(request, origin.receivedAt, origin.firstArrival);
  const failed: { id: string; error: unknown }[] = [];
  const fenced: string[] = [];
  await pMap(
    placed.filter(({ id }) => wanted.has(id)),
    async (record) => {
      try {
        const outcome = await storeRecord(table, { scope, kind, record, arrival: turn.arrivals });
        if (outcome === 'fenced') fenced.push(record.id);
        else outcomes.set(record.id, outcome);
      } catch (error) {
        failed.push({ id: record.id, error });
      }
    },
    { concurrency: memoryConcurrency },
  );
  if (failed.length > 0) {
    const unknown = request.records.map(({ id }) => id).filter((id) => !outcomes.has(id));
    throw new NotStoredError(unknown, translateError(failed[0]?.error));
  }
  return fenced;
}

interface Origin {
  readonly receivedAt: number;
  readonly firstArrival: number;
}

async function originOf(
  table: MemoryTable,
  scope: MemoryScope,
  request: AppendRequest,
  { arrivals, forgets }: Turn,
): Promise<Origin> {
  const { requestId, receivedAt, records } = request;
  const own = { receivedAt, firstArrival: arrivals - records.length };
  if (requestId === undefined) return own;
  if (await keepOrigin(table, scope, request, { ...own, forgets })) return own;
  // It may have been forgotten with the session just now: then this is a new request.
  return (await readOrigin(table, scope, requestId)) ?? own;
}

/**
 * Resolves false when the request was received before. What was received before a forget, or would have expired by now,
 * is another request: its messages come anew.
 */
async function keepOrigin(
  table: MemoryTable,
  scope: MemoryScope,
  { requestId = '', receivedAt, retentionSecs }: AppendRequest,
  { firstArrival, forgets }: Origin & { readonly forgets: number },
): Promise<boolean> {
  const parts = new ExpressionParts();
  const knownForSecs = Math.min(requestKnownForSecs, retentionSecs ?? requestKnownForSecs);
  const tooOld = parts.value({ N: String(receivedAt - knownForSecs * 1000) });
  const now = parts.value({ N: String(forgets) });
  const notKnown = `attribute_not_exists(pk) OR receivedAt <= ${tooOld} OR forgets < ${now}`;
  try {
    await table.client.send(
      new PutItemCommand({
        TableName: table.tableName,
        Item: {
          ...requestKey(scope, requestId),
          receivedAt: { N: String(receivedAt) },
          firstArrival: { N: String(firstArrival) },
          forgets: { N: String(forgets) },
          ttl: { N: String(ttlIn(new Date(receivedAt), requestKnownForSecs)) },
        },
        ConditionExpression: notKnown,
        ...parts.attributes,
      }),
    );
    return true;
  } catch (error) {
    if (isConditionFailure(error)) return false;
    throw error;
  }
}

async function readOrigin(
  table: MemoryTable,
  scope: MemoryScope,
  requestId: string,
): Promise<Origin | undefined> {
  const { Item } = await table.client.send(
    new GetItemCommand({
      TableName: table.tableName,
      Key: requestKey(scope, requestId),
      ConsistentRead: true,
    }),
  );
  if (Item === undefined) return undefined;
  return { receivedAt: numberOf(Item.receivedAt?.N), firstArrival: numberOf(Item.firstArrival?.N) };
}
