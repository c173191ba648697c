import { GetItemCommand, PutItemCommand, UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { CorruptError } from '../../errors.ts';
import type { ShardClaim, ShardRef } from '../../runs/run-store.ts';
import { ExpressionParts } from '../expression.ts';
import { checkedKey } from '../item.ts';
import { amountOf } from './record.ts';
import { onCondition, type RunTable, runTtl, shardKey } from './table.ts';

const claimKey = (shard: ShardRef) => checkedKey(shardKey(shard), 'claim');

/** The first message to come gets the shard; whoever asks later learns which one that was. */
export async function claimShard(table: RunTable, shard: ShardRef, claim: ShardClaim): Promise<ShardClaim> {
  const { dispatchId, handOvers } = claim;
  const item = {
    ...claimKey(shard),
    ticket: { S: dispatchId },
    hop: { N: String(handOvers) },
    ttl: runTtl(table),
  };
  const unclaimed = 'attribute_not_exists(pk)';
  return onCondition(
    async () => {
      await table.client.send(
        new PutItemCommand({ TableName: table.tableName, Item: item, ConditionExpression: unclaimed }),
      );
      return { dispatchId, handOvers };
    },
    () => readClaim(table, shard),
  );
}

export async function handOver(
  { client, tableName }: RunTable,
  shard: ShardRef,
  { dispatchId, handOvers }: ShardClaim,
): Promise<void> {
  const parts = new ExpressionParts();
  const next = parts.value({ N: String(handOvers + 1) });

  const stillHeld = `ticket = ${parts.value({ S: dispatchId })} AND hop = ${parts.value({ N: String(handOvers) })}`;
  await onCondition<unknown>(
    () =>
      client.send(
        new UpdateItemCommand({
          TableName: tableName,
          Key: claimKey(shard),
          UpdateExpression: `SET hop = ${next}`,
          ConditionExpression: stillHeld,
          ...parts.attributes,
        }),
      ),
    async () => {},
  );
}

async function readClaim({ client, tableName }: RunTable, shard: ShardRef): Promise<ShardClaim> {
  const { Item } = await client.send(
    new GetItemCommand({ TableName: tableName, Key: claimKey(shard), ConsistentRead: true }),
  );
  if (Item?.ticket?.S === undefined) throw new CorruptError('the claim of the shard cannot be read');
  return { dispatchId: Item.ticket.S, handOvers: amountOf(Item, 'hop') };
}
