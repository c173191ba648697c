import { type DynamoDBClient, GetItemCommand, UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { type Clock, systemClock } from '../clock.ts';
import { lanesKept, lanesTrimmedAtOnce } from '../defaults.ts';
import { CorruptError } from '../persistence/persistence-error.ts';
import { storeKeyScope } from '../persistence/store-key.ts';
import type { Counters } from '../sessions/counters.ts';
import { boundedClient } from './call-budget.ts';
import { checkedKey } from './checked-key.ts';
import { ExpressionParts } from './expression.ts';
import { type Lane, Lanes, laneMarksOf, sumAttribute } from './lanes.ts';
import { notApplied } from './snapshot-conditions.ts';
import type { Item } from './snapshot-head.ts';
import { trimLanes } from './tombstone.ts';
import { isConditionFailure } from './translate-error.ts';
import { translatedCall } from './translated.ts';

export interface DynamoDbCountersOptions {
  readonly clock?: Clock | undefined;
  /** As for `dynamoDbStore`. */
  readonly writer?: string | undefined;
}

/**
 * Keeps counters in the sessions table, each in a partition of its own: one write adds. Beside its lane (see lanes.ts)
 * an addition keeps the sum it came to, so that it counts once, and resolves its own sum, also where its answer is lost.
 */
export function dynamoDbCounters(
  given: DynamoDBClient,
  tableName: string,
  { clock = systemClock, writer }: DynamoDbCountersOptions = {},
): Counters {
  const client = boundedClient(given);
  const lanes = new Lanes(clock, writer);
  type Key = ReturnType<typeof checkedKey>;
  const keyOf = (agent: string, name: string) =>
    checkedKey(`counter/${storeKeyScope(agent, name)}`, 'counter');
  const read = async (key: Key): Promise<Item | undefined> =>
    (await client.send(new GetItemCommand({ TableName: tableName, Key: key, ConsistentRead: true }))).Item;

  const add = async (key: Key, by: number, lane: Lane): Promise<number> => {
    const turn = lane.turn();
    const parts = new ExpressionParts();
    const mark = parts.value(turn.mark);
    const sum = `if_not_exists(amount, ${parts.value({ N: '0' })}) + ${parts.value({ N: String(by) })}`;
    const ownSum = sumAttribute(turn.attribute);
    const request = new UpdateItemCommand({
      TableName: tableName,
      Key: key,
      UpdateExpression: `SET amount = ${sum}, ${ownSum} = ${sum}, ${turn.attribute} = ${mark}`,
      ConditionExpression: notApplied(turn, mark),
      ReturnValues: 'ALL_NEW',
      ...parts.attributes,
    });
    try {
      const { Attributes = {} } = await turn.watch(() => client.send(request));
      await trim(key, Attributes, turn.attribute);
      return amountOf(Attributes.amount?.N);
    } catch (error) {
      if (!isConditionFailure(error)) throw error;
      return amountOf((await read(key))?.[ownSum]?.N);
    }
  };

  const trim = async ({ pk, sk }: Key, item: Item, current: string) => {
    const over = lanes.over(laneMarksOf(item), current);
    if (over.length <= lanesKept) return;
    const sums = (attribute: string) => [sumAttribute(attribute)];
    const wanted = over.slice(0, lanesTrimmedAtOnce);
    // It is counted by now. The next addition tries again.
    await trimLanes({ client, tableName }, { pk: pk.S, sk: sk.S }, wanted, sums).catch(() => {});
  };

  return {
    bump: (agent, name, by) =>
      translatedCall(async () => {
        const key = keyOf(agent, name);
        return lanes.use((lane) => add(key, by, lane));
      }),
    get: (agent, name) =>
      translatedCall(async () => {
        const item = await read(keyOf(agent, name));
        return item === undefined ? 0 : amountOf(item.amount?.N);
      }),
  };
}

function amountOf(text: string | undefined): number {
  const amount = Number(text ?? Number.NaN);
  if (Number.isNaN(amount)) throw new CorruptError('the counter holds no number');
  return amount;
}
