import { DeleteItemCommand, GetItemCommand, UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { raceAttempts } from '../../defaults.ts';
import { CorruptError, UnavailableError } from '../../errors.ts';
import { storeKeyScope } from '../../persistence/store-key.ts';
import type { RunLease, RunLeases } from '../../runs/run-leases.ts';
import { boundedClient } from '../call-budget.ts';
import { ExpressionParts } from '../expression.ts';
import type { Item } from '../item.ts';
import { checkedKey } from '../item.ts';
import { translatedCall } from '../translated.ts';
import { enter, leave } from './places.ts';
import { onCondition, type RunTable, runTtl } from './table.ts';

/** Keeps leases in the table of runs, one item for each action that has run. */
export function dynamoDbRunLeases(given: RunTable): RunLeases {
  const table = { ...given, client: boundedClient(given.client) };
  const { client, tableName } = table;
  const keyOf = (agent: string, action: string) =>
    checkedKey(`lease/${storeKeyScope(agent, action)}`, 'lease');

  const holder = async (agent: string, action: string): Promise<RunLease | undefined> => {
    const { Item } = await client.send(
      new GetItemCommand({ TableName: tableName, Key: keyOf(agent, action), ConsistentRead: true }),
    );
    return Item && parseLease(Item);
  };

  /** Undefined where another lease holds, or the own one for longer. */
  const take = async (agent: string, action: string, lease: RunLease, now: Date) => {
    const parts = new ExpressionParts();
    const runId = parts.value({ S: lease.runId });
    const until = parts.value({ N: String(lease.until.getTime()) });
    const set = [
      `runId = ${runId}`,
      `heldUntil = ${until}`,
      `${parts.name('ttl')} = ${parts.value(runTtl(table))}`,
    ];
    const isOver = `heldUntil <= ${parts.value({ N: String(now.getTime()) })}`;
    const prolonged = `(runId = ${runId} AND heldUntil <= ${until})`;
    return onCondition<RunLease | undefined>(
      async () => {
        await client.send(
          new UpdateItemCommand({
            TableName: tableName,
            Key: keyOf(agent, action),
            UpdateExpression: `SET ${set.join(', ')}`,
            ConditionExpression: `attribute_not_exists(pk) OR ${isOver} OR ${prolonged}`,
            ...parts.attributes,
          }),
        );
        return lease;
      },
      async () => undefined,
    );
  };

  const acquire: RunLeases['acquire'] = async (agent, action, lease, now) => {
    for (let attempt = 1; attempt <= raceAttempts; attempt++) {
      // Given back between the write and the read, it is free for one more try.
      const held = (await take(agent, action, lease, now)) ?? (await holder(agent, action));
      if (held !== undefined) return held;
    }
    throw new UnavailableError('the lease of the action changes hands faster than it can be read');
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
    holder: (agent, action) => translatedCall(() => holder(agent, action)),
    acquire: (agent, action, lease, now) => translatedCall(() => acquire(agent, action, lease, now)),
    release: (agent, action, runId) => translatedCall(() => release(agent, action, runId)),
    enter: (agent, runId, max) => translatedCall(() => enter(table, agent, runId, max)),
    leave: (agent, runIds) => translatedCall(() => leave(table, agent, runIds)),
  };
}

function parseLease(item: Item): RunLease {
  const until = Number(item.heldUntil?.N ?? Number.NaN);
  if (item.runId?.S === undefined || Number.isNaN(until)) throw new CorruptError('the lease cannot be read');
  return { runId: item.runId.S, until: new Date(until) };
}
