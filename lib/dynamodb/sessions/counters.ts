import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { type Clock, systemClock } from '../../clock.ts';
import { CorruptError } from '../../errors.ts';
import { storeKeyScope } from '../../persistence/store-key.ts';
import type { Counters } from '../../sessions/counters.ts';
import { boundedClient } from '../call-budget.ts';
import { checkedKey } from '../item.ts';
import { Lanes } from '../lanes.ts';
import { translatedCall } from '../translated.ts';
import { readItem, updateOnce } from '../write-once.ts';

export interface DynamoDbCountersOptions {
  readonly clock?: Clock | undefined;
  /** As for `dynamoDbStore`. */
  readonly writer?: string | undefined;
}

/**
 * Keeps counters in the sessions table, each in a partition of its own: one write adds, once, and resolves the sum it
 * came to, also where its answer is lost.
 */
export function dynamoDbCounters(
  given: DynamoDBClient,
  tableName: string,
  { clock = systemClock, writer }: DynamoDbCountersOptions = {},
): Counters {
  const table = { client: boundedClient(given), tableName, writes: new Lanes(clock, writer) };
  const keyOf = (agent: string, name: string) =>
    checkedKey(`counter/${storeKeyScope(agent, name)}`, 'counter');
  return {
    bump: (agent, name, by) =>
      translatedCall(async () => {
        const sum = await updateOnce(table, keyOf(agent, name), (parts) => {
          const outcome = `if_not_exists(amount, ${parts.value({ N: '0' })}) + ${parts.value({ N: String(by) })}`;
          return { set: [`amount = ${outcome}`], outcome };
        });
        return amountOf(sum?.N);
      }),
    get: (agent, name) =>
      translatedCall(async () => {
        const item = await readItem(table, keyOf(agent, name));
        return item === undefined ? 0 : amountOf(item.amount?.N);
      }),
  };
}

function amountOf(text: string | undefined): number {
  const amount = Number(text ?? Number.NaN);
  if (Number.isNaN(amount)) throw new CorruptError('the counter holds no number');
  return amount;
}
