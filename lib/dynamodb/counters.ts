import { type DynamoDBClient, GetItemCommand, UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { CorruptError } from '../persistence/persistence-error.ts';
import { storeKeyScope } from '../persistence/store-key.ts';
import type { Counters } from '../sessions/counters.ts';
import { checkedKey } from './checked-key.ts';
import { ExpressionParts } from './expression.ts';
import { translated } from './translated.ts';

/** Keeps counters in the sessions table, each in a partition of its own: one write adds. */
export function dynamoDbCounters(client: DynamoDBClient, tableName: string): Counters {
  const keyOf = (agent: string, name: string) =>
    checkedKey(`counter/${storeKeyScope(agent, name)}`, 'counter');

  return {
    bump: (agent, name, by) =>
      translated(async () => {
        const parts = new ExpressionParts();
        const { Attributes } = await client.send(
          new UpdateItemCommand({
            TableName: tableName,
            Key: keyOf(agent, name),
            UpdateExpression: `ADD amount ${parts.value({ N: String(by) })}`,
            ReturnValues: 'UPDATED_NEW',
            ...parts.attributes,
          }),
        );
        return amountOf(Attributes?.amount?.N);
      }),
    get: (agent, name) =>
      translated(async () => {
        const { Item } = await client.send(
          new GetItemCommand({ TableName: tableName, Key: keyOf(agent, name), ConsistentRead: true }),
        );
        return Item === undefined ? 0 : amountOf(Item.amount?.N);
      }),
  };
}

function amountOf(text: string | undefined): number {
  const amount = Number(text ?? Number.NaN);
  if (Number.isNaN(amount)) throw new CorruptError('the counter holds no number');
  return amount;
}
