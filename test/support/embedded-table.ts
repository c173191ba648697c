import {
  type AttributeValue,
  BatchWriteItemCommand,
  type DynamoDBClient,
  ScanCommand,
} from '@aws-sdk/client-dynamodb';
import type { DynamoDb } from '../../infra/local/dynalite-requests.ts';
import { openEmbeddedDynamoDb } from '../../infra/local/embedded-dynamodb.ts';
import { snapshotsTable, type TableDescriptor } from '../../lib/dynamodb/tables.ts';
import { directClient } from './direct-client.ts';

type Row = Record<string, AttributeValue>;

export interface EmbeddedTable {
  /** A `directClient`: the end-to-end tests have the SDK's. */
  readonly client: DynamoDBClient;
  readonly tableName: string;
  /** What the client's requests are answered by. */
  readonly requests: DynamoDb;
  /** Every item of the table. */
  rows(): Promise<Row[]>;
  close(): Promise<void>;
}

/** One table, that of the snapshots unless asked otherwise, in a DynamoDB of this test file's own, in memory. */
export async function embeddedTable(table: TableDescriptor = snapshotsTable): Promise<EmbeddedTable> {
  const { requests, tableName: nameOf, close } = await openEmbeddedDynamoDb(undefined, [table]);
  const [client, tableName] = [directClient(requests), nameOf(table)];
  const rows = () => allRows(client, tableName);
  return { client, tableName, requests, rows, close };
}

export interface ReusedTable extends EmbeddedTable {
  /** Leaves exactly these rows in the table. */
  reset(rows: readonly Row[]): Promise<void>;
}

const batchMax = 25;

/** A table for many short tests, one after the other: to put rows into it costs less than the calls that made them. */
export async function reusedTable(table: TableDescriptor): Promise<ReusedTable> {
  const embedded = await embeddedTable(table);
  const { client, rows } = embedded;
  const write = async (
    requests: readonly ({ PutRequest: { Item: Row } } | { DeleteRequest: { Key: Row } })[],
  ) => {
    for (let at = 0; at < requests.length; at += batchMax) {
      const batch = requests.slice(at, at + batchMax);
      await client.send(new BatchWriteItemCommand({ RequestItems: { [embedded.tableName]: batch } }));
    }
  };
  const reset = async (wanted: readonly Row[]) => {
    const left = await rows();
    await write(left.map(({ pk, sk }) => ({ DeleteRequest: { Key: { pk, sk } as Row } })));
    await write(wanted.map((Item) => ({ PutRequest: { Item } })));
  };
  return { ...embedded, reset };
}

async function allRows(client: DynamoDBClient, tableName: string): Promise<Row[]> {
  const items: Row[] = [];
  let ExclusiveStartKey: Row | undefined;
  do {
    const page = await client.send(new ScanCommand({ TableName: tableName, ExclusiveStartKey }));
    items.push(...(page.Items ?? []));
    ExclusiveStartKey = page.LastEvaluatedKey;
  } while (ExclusiveStartKey);
  return items;
}
