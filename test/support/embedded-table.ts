import { type AttributeValue, type DynamoDBClient, ScanCommand } from '@aws-sdk/client-dynamodb';
import type { DynamoDb } from '../../infra/local/dynalite-requests.ts';
import { openEmbeddedDynamoDb } from '../../infra/local/embedded-dynamodb.ts';
import { snapshotsTable, type TableDescriptor } from '../../lib/dynamodb/tables.ts';

export interface EmbeddedTable {
  readonly client: DynamoDBClient;
  readonly tableName: string;
  /** What the client's requests are answered by. */
  readonly requests: DynamoDb;
  /** Every item of the table. */
  rows(): Promise<Record<string, AttributeValue>[]>;
  close(): Promise<void>;
}

/** One table, that of the snapshots unless asked otherwise, in a DynamoDB of this test file's own, in memory. */
export async function embeddedTable(table: TableDescriptor = snapshotsTable): Promise<EmbeddedTable> {
  const { client, requests, tableName: nameOf, close } = await openEmbeddedDynamoDb(undefined, [table]);
  const tableName = nameOf(table);
  const rows = async () => {
    const items: Record<string, AttributeValue>[] = [];
    let ExclusiveStartKey: Record<string, AttributeValue> | undefined;
    do {
      const page = await client.send(new ScanCommand({ TableName: tableName, ExclusiveStartKey }));
      items.push(...(page.Items ?? []));
      ExclusiveStartKey = page.LastEvaluatedKey;
    } while (ExclusiveStartKey);
    return items;
  };
  return { client, tableName, requests, rows, close };
}
