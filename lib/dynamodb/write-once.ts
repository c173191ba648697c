import { type DynamoDBClient, GetItemCommand, UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { lanesKept, lanesTrimmedAtOnce } from '../defaults.ts';
import { ExpressionParts } from './expression.ts';
import type { checkedKey, Item } from './item.ts';
import { type Lane, type Lanes, laneMarksOf, outcomeAttribute, type Turn } from './lanes.ts';
import { notApplied } from './snapshots/conditions.ts';
import { trimLanes } from './snapshots/tombstone.ts';
import { isConditionFailure } from './translate-error.ts';

export interface OnceTable {
  readonly client: DynamoDBClient;
  readonly tableName: string;
  /** Of the writer that this process is. */
  readonly writes: Lanes;
}

type Key = ReturnType<typeof checkedKey>;

export interface OnceUpdate {
  /** Assignments, as they follow `SET`. */
  readonly set: readonly string[];
  readonly remove?: readonly string[] | undefined;
  /** An expression over the item as the update finds it, whose value the call resolves. */
  readonly outcome?: string | undefined;
}

/**
 * Updates an item that is whole in itself, by one request that takes effect once however often it arrives (see lanes.ts).
 * What it came to is kept beside the writer's lane, so that it is resolved also where the answer is lost.
 *
 * @returns the outcome's value, if the update asks for one
 */
export async function updateOnce(
  table: OnceTable,
  key: Key,
  updateOf: (parts: ExpressionParts) => OnceUpdate,
): Promise<Item[string] | undefined> {
  return table.writes.use(async (lane) => {
    const outcome = outcomeAttribute(lane.attribute);
    try {
      const item = await send(table, key, lane, updateOf);
      await trim(table, key, item, lane);
      return item[outcome];
    } catch (error) {
      if (!isConditionFailure(error)) throw error;
      return (await readItem(table, key))?.[outcome];
    }
  });
}

export async function readItem(
  { client, tableName }: Pick<OnceTable, 'client' | 'tableName'>,
  key: Key,
): Promise<Item | undefined> {
  const request = { TableName: tableName, Key: key, ConsistentRead: true };
  return (await client.send(new GetItemCommand(request))).Item;
}

async function send(
  { client, tableName }: OnceTable,
  key: Key,
  lane: Lane,
  updateOf: (parts: ExpressionParts) => OnceUpdate,
): Promise<Item> {
  const turn: Turn = lane.turn();
  const parts = new ExpressionParts();
  const mark = parts.value(turn.mark);
  const { set, remove = [], outcome } = updateOf(parts);
  const outcomes = outcome === undefined ? [] : [`${outcomeAttribute(turn.attribute)} = ${outcome}`];
  const assign = [...set, ...outcomes, `${turn.attribute} = ${mark}`].join(', ');
  const request = new UpdateItemCommand({
    TableName: tableName,
    Key: key,
    UpdateExpression: `SET ${assign}${remove.length > 0 ? ` REMOVE ${remove.join(', ')}` : ''}`,
    ConditionExpression: notApplied(turn, mark),
    ReturnValues: 'ALL_NEW',
    ...parts.attributes,
  });
  const { Attributes = {} } = await turn.watch(() => client.send(request));
  return Attributes;
}

/** The update has been made by now. Where this fails, the next one tries again. */
async function trim(table: OnceTable, { pk, sk }: Key, item: Item, lane: Lane): Promise<void> {
  const over = table.writes.over(laneMarksOf(item), lane.attribute);
  if (over.length <= lanesKept) return;
  const outcomes = (attribute: string) => [outcomeAttribute(attribute)];
  const wanted = over.slice(0, lanesTrimmedAtOnce);
  await trimLanes(table, { pk: pk.S, sk: sk.S }, wanted, outcomes).catch(() => {});
}
