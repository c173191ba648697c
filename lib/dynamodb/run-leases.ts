import { DeleteItemCommand, GetItemCommand, UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { CorruptError } from '../persistence/persistence-error.ts';
import { storeKeyScope } from '../persistence/store-key.ts';
import type { RunLease, RunLeases } from '../runs/run-leases.ts';
import { checkedKey } from './checked-key.ts';
import { ExpressionParts } from './expression.ts';
import { onCondition, type RunTable, runTtl } from './run-table.ts';
import type { Item } from './snapshot-head.ts';
import { translated } from './translated.ts';

/** Keeps leases in the table of runs, one item for each action that has run. */
export function dynamoDbRunLeases(table: RunTable): RunLeases {
  const { client, tableName } = table;
  const keyOf = (agent: string, action: string) =>
    checkedKey(`lease/${storeKeyScope(agent, action)}`, 'lease');

  const holder = async (agent: string, action: string): Promise<RunLease | undefined> => {
    const { Item } = await client.send(
      new GetItemCommand({ TableName: tableName, Key: keyOf(agent, action), ConsistentRead: true }),
    );
    return Item && parseLease(Item);
  };

  const acquire: RunLeases['acquire'] = async (agent, action, lease, now) => {
    const parts = new ExpressionParts();
    const runId = parts.value({ S: lease.runId });
    const set = [
      `runId = ${runId}`,
      `heldUntil = ${parts.value({ N: String(lease.until.getTime()) })}`,
      `${parts.name('ttl')} = ${parts.value(runTtl(table))}`,
    ];
    const isOver = `heldUntil <= ${parts.value({ N: String(now.getTime()) })}`;
    const freeOrOwn = `attribute_not_exists(pk) OR runId = ${runId} OR ${isOver}`;
    return onCondition(
      async () => {
        await client.send(
          new UpdateItemCommand({
            TableName: tableName,
            Key: keyOf(agent, action),
            UpdateExpression: `SET ${set.join(', ')}`,
            ConditionExpression: freeOrOwn,
            ...parts.attributes,
          }),
        );
        return lease;
      },
      // Given back between the write and this read, it is free: one more try, by then likely to succeed.
      async () => (await holder(agent, action)) ?? acquire(agent, action, lease, now),
    );
  };

  const release = async (agent: string, action: string, runId: string): Promise<void> => {
    const parts = new ExpressionParts();
    const stillOwn = `runId = ${parts.value({ S: runId })}`;
    await onCondition<unknown>(
      () =>
        client.send(
          new DeleteItemCommand({
            TableName: tableName,
            Key: keyOf(agent, action),
            ConditionExpression: stillOwn,
            ...parts.attributes,
          }),
        ),
      async () => {},
    );
  };

  return {
    holder: (agent, action) => translated(() => holder(agent, action)),
    acquire: (agent, action, lease, now) => translated(() => acquire(agent, action, lease, now)),
    release: (agent, action, runId) => translated(() => release(agent, action, runId)),
  };
}

function parseLease(item: Item): RunLease {
  const until = Number(item.heldUntil?.N ?? Number.NaN);
  if (item.runId?.S === undefined || Number.isNaN(until)) throw new CorruptError('the lease cannot be read');
  return { runId: item.runId.S, until: new Date(until) };
}
