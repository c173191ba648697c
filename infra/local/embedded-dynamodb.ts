import {
  CreateTableCommand,
  DescribeTableCommand,
  DynamoDBClient,
  ResourceNotFoundException,
} from '@aws-sdk/client-dynamodb';
import { type TableDescriptor, tables } from '../../lib/dynamodb/tables.ts';
import { databaseIn } from './data-folder.ts';
import { type DynamoDb, dynamoDbOver, requestHandlerOver } from './dynalite-requests.ts';
import { openDynaliteStore } from './dynalite-store.ts';

export interface EmbeddedDynamoDb {
  readonly client: DynamoDBClient;
  /** What the client's requests are answered by. No port leads to it: what shares this process has it, and nobody else. */
  readonly requests: DynamoDb;
  tableName(table: TableDescriptor): string;
  close(): Promise<void>;
}

/**
 * A DynamoDB in this process, with the stack's tables in it.
 *
 * @param folder where it keeps its files; without it, in memory
 * @param wanted tables other than the stack's
 * @throws DataFolderError when the folder cannot be used, or another server uses it
 */
export async function openEmbeddedDynamoDb(
  folder: string | undefined,
  wanted: readonly TableDescriptor[] = tables,
): Promise<EmbeddedDynamoDb> {
  const path = folder && (await databaseIn(folder));
  const store = await openDynaliteStore(path);
  const requests = dynamoDbOver(store);
  // Which Node the SDK will support next does not matter to a client of this process.
  process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED ??= 'true';
  const client = new DynamoDBClient({
    endpoint: 'http://embedded.invalid',
    requestHandler: requestHandlerOver(requests),
    region: 'local',
    credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
  });
  const close = async () => {
    client.destroy();
    await store.lifecycleManager.gracefulClose();
  };

  try {
    for (const table of wanted) await ensureTable(client, table);
  } catch (error) {
    await close();
    throw error;
  }
  return { client, requests, tableName, close };
}

function tableName({ id }: TableDescriptor): string {
  return `dormouse-${id.toLowerCase()}`;
}

async function ensureTable(client: DynamoDBClient, table: TableDescriptor): Promise<void> {
  const { partitionKey, sortKey, localIndex } = table;
  const attributes = [partitionKey, sortKey, ...(localIndex ? [localIndex.sortKey] : [])];
  const TableName = tableName(table);
  if ((await statusOf(client, TableName)) === undefined) {
    await client.send(
      new CreateTableCommand({
        TableName,
        BillingMode: 'PAY_PER_REQUEST',
        AttributeDefinitions: attributes.map((AttributeName) => ({ AttributeName, AttributeType: 'S' })),
        KeySchema: [
          { AttributeName: partitionKey, KeyType: 'HASH' },
          { AttributeName: sortKey, KeyType: 'RANGE' },
        ],
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
  }
  const giveUpAt = performance.now() + 5_000;
  while ((await statusOf(client, TableName)) !== 'ACTIVE') {
    if (performance.now() > giveUpAt) throw new Error(`the table ${TableName} was never finished`);
  }
}

async function statusOf(client: DynamoDBClient, TableName: string): Promise<string | undefined> {
  try {
    return (await client.send(new DescribeTableCommand({ TableName }))).Table?.TableStatus;
  } catch (error) {
    if (error instanceof ResourceNotFoundException) return undefined;
    throw error;
  }
}
