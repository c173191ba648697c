import { UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import pMap from 'p-map';
import { memoryConcurrency, raceAttempts } from '../../defaults.ts';
import { UnavailableError } from '../../errors.ts';
import type { MemoryScope } from '../../memory/memory-store.ts';
import { ExpressionParts } from '../expression.ts';
import type { Item } from '../item.ts';
import { itemKey } from '../item.ts';
import { isConditionFailure } from '../translate-error.ts';
import { ttlOf } from '../ttl.ts';
import { type Forget, inADay } from './clock.ts';
import { kindOf, memoryPartition } from './keys.ts';
import type { MemoryTable } from './lanes.ts';
import { getRowAt } from './read.ts';
import { isVisible, type RecordRow } from './record.ts';

/**
 * What stays under a record's key where it was removed, or was about to be written when something was forgotten: no call
 * that began before the horizon can store anything there. It costs what a deletion costs, and expires.
 */
export interface Marker {
  /** Calls with a lower number are refused. */
  readonly horizon: number;
  /** Epoch milliseconds. */
  readonly until: number;
  /** Of a compacted record: what makes its id known when it is sent again. */
  readonly compacted?: { readonly at: number; readonly digest: Uint8Array } | undefined;
  /** It was let go by the policy, and not forgotten by anybody. */
  readonly pruned?: boolean | undefined;
}

export const markerAttributes = ['fence', 'fencedUntil', 'gone'] as const;

export function forgetMarker({ horizon }: Pick<Forget, 'horizon'>, now: Date): Marker {
  return { horizon, until: inADay(now) * 1000 };
}

/** A compacted message is the same one when it is sent again, by whatever call. */
export function compactedMarker(at: number, digest: Uint8Array, until: number): Marker {
  return { horizon: Number.MAX_SAFE_INTEGER, until, compacted: { at, digest } };
}

/**
 * The marker in the place of a row. It keeps the number of the call that stored what was there, so that a retry of it
 * knows its own. A forget of a part also removes what calls have stored that began after it: of those a request may come
 * late as well, so they are refused too, and so is whoever a marker refuses that is in force. That a compacted message
 * is known to all calls ends with its marker.
 */
export function formatMarker({ horizon, until, compacted, pruned }: Marker, row: RecordRow, now: Date): Item {
  const arrival = row.arrival ?? row.gone?.arrival;
  const isInForce = (row.fencedUntil ?? 0) > now.getTime();
  const stored = isInForce ? arrival : row.arrival;
  const fence = isInForce && row.gone?.compacted === undefined ? row.fence : undefined;
  return {
    fence: { N: String(Math.max(horizon, (stored ?? -1) + 1, fence ?? 0)) },
    fencedUntil: { N: String(until) },
    gone: {
      M: {
        ...(arrival !== undefined && { arrival: { N: String(arrival) } }),
        ...(pruned && { pruned: { BOOL: true } }),
        ...(compacted && { at: { N: String(compacted.at) }, digest: { B: compacted.digest } }),
      },
    },
  };
}

export function markerTtl({ until }: Marker): Item[string] {
  return { N: String(ttlOf(new Date(until))) };
}

/** The condition under which a call may store: it did not begin before a forget that has fenced the key. */
export function notFenced(arrival: number, now: Date, parts: ExpressionParts): string {
  const own = parts.value({ N: String(arrival) });
  const time = parts.value({ N: String(now.getTime()) });
  return `(attribute_not_exists(fence) OR fence <= ${own} OR fencedUntil <= ${time})`;
}

/** The row's marker, if it holds for a call of this number. */
export function isFenced({ fence, fencedUntil = 0 }: RecordRow, arrival: number, now: Date): boolean {
  return fence !== undefined && fence > arrival && fencedUntil > now.getTime();
}

/**
 * Refuses what calls under way are about to write. What they have stored already stays, for whoever decides on records;
 * so does the marker of a compacted one.
 */
export async function fenceUnderWay(
  table: MemoryTable,
  scope: MemoryScope,
  forget: Forget,
  { records }: { records: 'and values' | 'only' },
): Promise<void> {
  const keys = forget.underWay.filter((sk) => records === 'and values' || !sk.startsWith('user/'));
  await pMap(keys, (sk) => fenceKey(table, scope, sk, forget), { concurrency: memoryConcurrency });
}

async function fenceKey(table: MemoryTable, scope: MemoryScope, sk: string, forget: Forget): Promise<void> {
  const key = itemKey({ pk: memoryPartition(scope), sk });
  for (let attempt = 0; attempt < raceAttempts; attempt++) {
    const row = await getRowAt(table, scope, sk);
    const now = table.clock();
    if (row !== undefined && (isStored(row, now) || isFenced(row, forget.horizon - 1, now))) return;
    const parts = new ExpressionParts();
    const marker = forgetMarker(forget, now);
    const assign = [
      `fence = ${parts.value({ N: String(marker.horizon) })}`,
      `fencedUntil = ${parts.value({ N: String(marker.until) })}`,
    ];
    // An item that names chunk rows must not expire before them.
    if (!row?.place) assign.push(`${parts.name('ttl')} = ${parts.value(markerTtl(marker))}`);
    const unchanged = row?.place
      ? `place = ${parts.value({ S: row.place })}`
      : 'attribute_not_exists(place) AND attribute_not_exists(info)';
    try {
      await table.client.send(
        new UpdateItemCommand({
          TableName: table.tableName,
          Key: key,
          UpdateExpression: `SET ${assign.join(', ')}`,
          ConditionExpression: unchanged,
          ...parts.attributes,
        }),
      );
      return;
    } catch (error) {
      if (!isConditionFailure(error)) throw error;
    }
  }
  throw new UnavailableError('others went on storing in the session, again and again');
}

/** A record in place, or a value: no late call can store over it unseen. */
function isStored(row: RecordRow, now: Date): boolean {
  if (kindOf(row.sk) === undefined) return row.hasInfo;
  return isVisible(row, now);
}
