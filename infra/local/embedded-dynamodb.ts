import {
  CreateTableCommand,
  type CreateTableCommandInput,
  DescribeTableCommand,
  DynamoDBClient,
  ResourceNotFoundException,
} from '@aws-sdk/client-dynamodb';
import { type TableDescriptor, tables } from '../../lib/dynamodb/tables.ts';
import { checkDataFolder, dataFolderAt } from './data-folder.ts';
import { type DynamoDb, dynamoDbOver, requestHandlerOver } from './dynalite-requests.ts';
import { type OpenedStore, openDynaliteStore } from './dynalite-store.ts';
import { recordedWrites } from './recorded-writes.ts';

export interface EmbeddedDynamoDb {
  readonly client: DynamoDBClient;
  /** What the client's requests are answered by. No port leads to it: what shares this process has it, and nobody else. */
  readonly requests: DynamoDb;
  tableName(table: TableDescriptor): string;
  close(): Promise<void>;
}

/**
 * A DynamoDB in this process, with the stack's tables in it. What was found in its folder, and whether anything can be
 * stored there, is a line on the console.
 *
 * @param folder where it keeps its files; without it, in memory
 * @param wanted tables other than the stack's
 * @param repair whether a damaged folder is repaired, as far as that goes
 * @throws DataFolderError when the folder cannot be used or is damaged, or another server uses it
 */
export async function openEmbeddedDynamoDb(
  folder: string | undefined,
  wanted: readonly TableDescriptor[] = tables,
  { repair = false }: { readonly repair?: boolean | undefined } = {},
): Promise<EmbeddedDynamoDb> {
  const { store, close: closeStore } = await openStore(folder, wanted.map(definitionOf), repair);
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
    await closeStore();
  };

  try {
    for (const table of wanted) await ensureTable(client, definitionOf(table));
  } catch (error) {
    await close();
    throw error;
  }
  return { client, requests, tableName, close };
}

function tableName({ id }: TableDescriptor): string {
  return `dormouse-${id.toLowerCase()}`;
}

async function openStore(
  path: string | undefined,
  tables: readonly TableDefinition[],
  repair: boolean,
): Promise<OpenedStore> {
  if (path === undefined) return openDynaliteStore(undefined);
  const folder = dataFolderAt(path);
  const report = (line: string) => console.error(`dormouse: ${line}`);
  await checkDataFolder(folder, { tables, repair, report });
  return openDynaliteStore(folder.database, (database) =>
    recordedWrites(database, { folder, check: () => checkDataFolder(folder, { tables, report }), report }),
  );
}

type TableDefinition = ReturnType<typeof definitionOf>;

function definitionOf(table: TableDescriptor) {
  const { partitionKey, sortKey, localIndex } = table;
  const attributes = [partitionKey, sortKey, ...(localIndex ? [localIndex.sortKey] : [])];
  return {
    TableName: tableName(table),
    BillingMode: 'PAY_PER_REQUEST' as const,
    AttributeDefinitions: attributes.map((AttributeName) => ({ AttributeName, AttributeType: 'S' as const })),
    KeySchema: [
      { AttributeName: partitionKey, KeyType: 'HASH' as const },
      { AttributeName: sortKey, KeyType: 'RANGE' as const },
    ],
    ...(localIndex && {
      LocalSecondaryIndexes: [
        {
          IndexName: localIndex.name,
          KeySchema: [
            { AttributeName: partitionKey, KeyType: 'HASH' as const },
            { AttributeName: localIndex.sortKey, KeyType: 'RANGE' as const },
          ],
          Projection: { ProjectionType: 'ALL' as const },
        },
      ],
    }),
  } satisfies CreateTableCommandInput;
}

async function ensureTable(client: DynamoDBClient, definition: TableDefinition): Promise<void> {
  const { TableName } = definition;
  if ((await statusOf(client, TableName)) === undefined)
    await client.send(new CreateTableCommand(definition));
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
