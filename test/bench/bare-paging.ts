import { type AttributeValue, QueryCommand } from '@aws-sdk/client-dynamodb';
import { jobPageSize, sessionShards } from '../../lib/defaults.ts';
import { sessionsTable } from '../../lib/dynamodb/tables.ts';
import type { EmbeddedProcess } from './embedded-process.ts';
import { shardPartition } from './registered-sessions.ts';

/** Reads the rows of an agent's sessions as a run does, page by page and shard by shard, and does nothing with them. */
export async function barePaging({ client, tableName }: EmbeddedProcess, agent: string): Promise<number> {
  let rows = 0;
  for (let shard = 0; shard < sessionShards; shard++) {
    let ExclusiveStartKey: Record<string, AttributeValue> | undefined;
    do {
      const { Items = [], LastEvaluatedKey } = await client.send(
        new QueryCommand({
          TableName: tableName(sessionsTable),
          KeyConditionExpression: 'pk = :pk',
          ExpressionAttributeValues: { ':pk': { S: shardPartition(agent, shard) } },
          ConsistentRead: true,
          Limit: jobPageSize,
          ExclusiveStartKey,
        }),
      );
      rows += Items.length;
      ExclusiveStartKey = LastEvaluatedKey;
    } while (ExclusiveStartKey !== undefined);
  }
  return rows;
}
