import { GetItemCommand, UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { raceAttempts } from '../../defaults.ts';
import { UnavailableError } from '../../errors.ts';
import { storeKeyScope } from '../../persistence/store-key.ts';
import { ExpressionParts } from '../expression.ts';
import { checkedKey } from '../item.ts';
import { onCondition, type RunTable, runTtl } from './table.ts';

/*
 * The places of an agent are one item: the set of the runs that have one. Adding to a set and taking from it have the
 * same effect when they are repeated, and the size is in the condition, so that no two take the last place.
 */

const placesKey = (agent: string) => checkedKey(`lease/${storeKeyScope(agent)}`, 'places');

export async function enter(
  table: RunTable,
  agent: string,
  runId: string,
  max: number,
): Promise<readonly string[] | undefined> {
  for (let attempt = 1; attempt <= raceAttempts; attempt++) {
    if (await add(table, agent, runId, max)) return undefined;
    const taken = await readPlaces(table, agent);
    if (taken.length >= max) return taken;
  }
  throw new UnavailableError('the places of the agent change hands faster than they can be read');
}

export async function leave(
  { client, tableName }: RunTable,
  agent: string,
  runIds: readonly string[],
): Promise<void> {
  const parts = new ExpressionParts();
  const hasPlaces = 'attribute_exists(pk)';
  await onCondition<unknown>(
    () =>
      client.send(
        new UpdateItemCommand({
          TableName: tableName,
          Key: placesKey(agent),
          UpdateExpression: `DELETE runIds ${parts.value({ SS: [...runIds] })}`,
          ConditionExpression: hasPlaces,
          ...parts.attributes,
        }),
      ),
    async () => {},
  );
}

async function add(table: RunTable, agent: string, runId: string, max: number): Promise<boolean> {
  const parts = new ExpressionParts();
  const id = parts.value({ S: runId });
  const isFree = `size(runIds) < ${parts.value({ N: String(max) })}`;
  const set = `SET ${parts.name('ttl')} = ${parts.value(runTtl(table))}`;
  return onCondition(
    async () => {
      await table.client.send(
        new UpdateItemCommand({
          TableName: table.tableName,
          Key: placesKey(agent),
          UpdateExpression: `${set} ADD runIds ${parts.value({ SS: [runId] })}`,
          ConditionExpression: `attribute_not_exists(runIds) OR ${isFree} OR contains(runIds, ${id})`,
          ...parts.attributes,
        }),
      );
      return true;
    },
    async () => false,
  );
}

async function readPlaces({ client, tableName }: RunTable, agent: string): Promise<readonly string[]> {
  const { Item } = await client.send(
    new GetItemCommand({ TableName: tableName, Key: placesKey(agent), ConsistentRead: true }),
  );
  return Item?.runIds?.SS ?? [];
}
