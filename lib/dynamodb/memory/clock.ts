import { GetItemCommand, UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { markerSecs } from '../../defaults.ts';
import { CorruptError } from '../../errors.ts';
import type { MemoryScope, Moment } from '../../memory/memory-store.ts';
import { ExpressionParts } from '../expression.ts';
import type { Item } from '../item.ts';
import { ttlIn } from '../ttl.ts';
import { clockKey } from './keys.ts';
import { intentsOf, type MemoryTable } from './lanes.ts';

/*
 * A session's clock is one item: how many records have arrived (`arrivals`), how often something was forgotten
 * (`forgets`), and for each lane of a writer the sort keys that the call in it is about to write (its intent). Every
 * call first takes its turn here, in one update; every forget does too, and gets all intents in the answer. So of a call
 * and a forget one is first, and both know which. The item never starts again at 0 while a late writer may be under way:
 * after a forget of the whole session it stays for a day.
 */

export interface Forget {
  readonly forgets: number;
  /** Calls with a lower number began before this forget, all others after it. */
  readonly horizon: number;
  /** The sort keys that calls which may be under way are about to write. */
  readonly underWay: readonly string[];
}

/** Begins a forget: a moment in the session's order of calls. */
export async function beginForget(
  table: MemoryTable,
  scope: MemoryScope,
  { ofAll }: { ofAll: boolean },
): Promise<Forget> {
  const parts = new ExpressionParts();
  const one = parts.value({ N: '1' });
  const expire = ofAll
    ? `SET ${parts.name('ttl')} = ${parts.value({ N: String(inADay(table.clock())) })} `
    : '';
  const { Attributes = {} } = await table.client.send(
    new UpdateItemCommand({
      TableName: table.tableName,
      Key: clockKey(scope),
      UpdateExpression: `${expire}ADD arrivals ${one}, forgets ${one}`,
      ReturnValues: 'ALL_NEW',
      ...parts.attributes,
    }),
  );
  const underWay = intentsOf(Attributes).flatMap(({ keys }) => keys);
  const { arrivals, forgets } = momentOf(Attributes);
  return { horizon: arrivals, forgets, underWay: [...new Set(underWay)] };
}

export async function readMoment(table: MemoryTable, scope: MemoryScope): Promise<Moment> {
  const { Item = {} } = await table.client.send(
    new GetItemCommand({
      TableName: table.tableName,
      Key: clockKey(scope),
      ProjectionExpression: 'arrivals, forgets',
      ConsistentRead: true,
    }),
  );
  return momentOf(Item);
}

export function momentOf(item: Item): Moment {
  return { arrivals: numberOf(item.arrivals?.N ?? '0'), forgets: numberOf(item.forgets?.N ?? '0') };
}

export function numberOf(text: string | undefined): number {
  const value = Number(text ?? Number.NaN);
  if (!Number.isSafeInteger(value)) throw new CorruptError('an item that orders the memory has no number');
  return value;
}

export function inADay(now: Date): number {
  return ttlIn(now, markerSecs);
}
