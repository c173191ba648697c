import { CreateTableCommand, DynamoDBClient, ScanCommand } from '@aws-sdk/client-dynamodb';
import dynalite from 'dynalite';
import { snapshotsTable, type TableDescriptor } from '../../lib/dynamodb/tables.ts';

export interface EmbeddedTable {
  readonly client: DynamoDBClient;
  readonly tableName: string;
  /** Every item of the table. */
  rows(): Promise<Record<string, import('@aws-sdk/client-dynamodb').AttributeValue>[]>;
  close(): Promise<void>;
}

/** A DynamoDB of this test file's own, in memory, on a free loopback port, with one table. */
export async function embeddedTable(descriptor: TableDescriptor = snapshotsTable): Promise<EmbeddedTable> {
  const server = dynalite({ createTableMs: 0 });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the embedded DynamoDB has no port');
  const client = new DynamoDBClient({
    endpoint: `http://127.0.0.1:${address.port}`,
    region: 'us-east-1',
    credentials: { accessKeyId: 'test', secretAccessKey: 'test' },
  });
  const tableName = descriptor.id.toLowerCase();
  const { partitionKey, sortKey, localIndex } = descriptor;
  const attributes = [partitionKey, sortKey, ...(localIndex ? [localIndex.sortKey] : [])];
  await client.send(
    new CreateTableCommand({
      TableName: tableName,
      BillingMode: 'PAY_PER_REQUEST',
      KeySchema: [
        { AttributeName: partitionKey, KeyType: 'HASH' },
        { AttributeName: sortKey, KeyType: 'RANGE' },
      ],
      AttributeDefinitions: attributes.map((AttributeName) => ({ AttributeName, AttributeType: 'S' })),
      ...(localIndex && {
        LocalSecondaryIndexes: [
          {
            IndexName: localIndex.name,
            KeySchema: [
              { AttributeName: partitionKey, KeyType: 'HASH' },
              { AttributeName: localIndex.sortKey, KeyType: 'RANGE' },
            ],
            Projection: { ProjectionType: 'ALL' },
          },
        ],
      }),
    }),
  );
  return {
    client,
    tableName,
    async rows() {
      const items = [];
      let ExclusiveStartKey: Record<string, import('@aws-sdk/client-dynamodb').AttributeValue> | undefined;
      do {
        const page = await client.send(new ScanCommand({ TableName: tableName, ExclusiveStartKey }));
        items.push(...(page.Items ?? []));
        ExclusiveStartKey = page.LastEvaluatedKey;
      } while (ExclusiveStartKey);
      return items;
    },
    async close() {
      client.destroy();
      await new Promise<void>((resolve) => {
        server.close(() => resolve());
      });
    },
  };
}
