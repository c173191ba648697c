import {
  type AttributeValue,
  ConditionalCheckFailedException,
  DeleteItemCommand,
  type DynamoDBClient,
  paginateScan,
} from '@aws-sdk/client-dynamodb';
import { type Clock, systemClock } from '../../lib/clock.ts';
import { type TableDescriptor, tables } from '../../lib/dynamodb/tables.ts';
import { messageOf } from '../../lib/message-of.ts';
import type { EmbeddedDynamoDb } from './embedded-dynamodb.ts';

const pauseMs = 5 * 60_000;

export interface ExpiryOptions {
  readonly clock?: Clock | undefined;
  /** Rows that are read in one go: requests to the server do not wait behind more. 200 unless given. */
  readonly pageSize?: number | undefined;
}

/**
 * Removes rows whose time to live is over, now and every few minutes, as DynamoDB does on AWS: the embedded database
 * knows no TTL, and markers of what was deleted would pile up. A sweep that fails is reported; the next one comes.
 */
export function startExpiry(
  { client, tableName }: Pick<EmbeddedDynamoDb, 'client' | 'tableName'>,
  { clock = systemClock, pageSize = 200 }: ExpiryOptions = {},
): { close(): Promise<void> } {
  const closing = new AbortController();
  let timer: NodeJS.Timeout | undefined;

  const sweep = async () => {
    try {
      for (const table of tables) {
        for await (const rows of expiredRows(client, tableName(table), table, clock(), pageSize)) {
          for (const row of rows) {
            closing.signal.throwIfAborted();
            await removeUnchanged(client, tableName(table), table, row);
          }
          closing.signal.throwIfAborted();
        }
      }
    } catch (error) {
      if (closing.signal.aborted) return;
      const reason = messageOf(error).replace(/\s+/g, ' ');
      console.error(`dormouse: rows that have expired could not be removed, and will be later: ${reason}`);
    }
    if (closing.signal.aborted) return;
    timer = setTimeout(() => {
      underWay = sweep();
    }, pauseMs).unref();
  };
  let underWay = sweep();

  return {
    close() {
      closing.abort();
      clearTimeout(timer);
      return underWay;
    },
  };
}

type Row = Readonly<Record<string, AttributeValue>>;

async function* expiredRows(
  client: DynamoDBClient,
  TableName: string,
  { partitionKey, sortKey, ttl }: TableDescriptor,
  now: Date,
  pageSize: number,
): AsyncGenerator<readonly Row[]> {
  const pages = paginateScan(
    { client, pageSize },
    {
      TableName,
      ProjectionExpression: '#pk, #sk, #ttl',
      FilterExpression: '#ttl < :now',
      ExpressionAttributeNames: { '#pk': partitionKey, '#sk': sortKey, '#ttl': ttl },
      ExpressionAttributeValues: { ':now': { N: String(Math.floor(now.getTime() / 1000)) } },
    },
  );
  for await (const { Items = [] } of pages) yield Items;
}

/** A row that was written again since the scan has another time to live, or none: it stays. */
async function removeUnchanged(
  client: DynamoDBClient,
  TableName: string,
  { partitionKey, sortKey, ttl }: TableDescriptor,
  row: Row,
): Promise<void> {
  const { [partitionKey]: pk, [sortKey]: sk, [ttl]: expiredAt } = row;
  if (pk === undefined || sk === undefined || expiredAt === undefined) return;
  const unchangedSinceScan = '#ttl = :expiredAt';
  try {
    await client.send(
      new DeleteItemCommand({
        TableName,
        Key: { [partitionKey]: pk, [sortKey]: sk },
        ConditionExpression: unchangedSinceScan,
        ExpressionAttributeNames: { '#ttl': ttl },
        ExpressionAttributeValues: { ':expiredAt': expiredAt },
      }),
    );
  } catch (error) {
    if (!(error instanceof ConditionalCheckFailedException)) throw error;
  }
}
