import { type DynamoDBClient, GetItemCommand } from '@aws-sdk/client-dynamodb';
import type { Clock } from '../clock.ts';
import type { NewEtag } from '../persistence/etag.ts';
import { isLive } from '../persistence/expiry.ts';
import { ExpressionParts } from './expression.ts';
import { type Head, infoAttributes, parseHead, type StoredSnapshot } from './snapshot-head.ts';
import type { ItemKey } from './snapshot-keys.ts';

/** What every step on the snapshots table needs, resolved once. */
export interface SnapshotTable {
  readonly client: DynamoDBClient;
  readonly tableName: string;
  readonly clock: Clock;
  readonly newEtag: NewEtag;
  readonly inlineMaxBytes: number;
  readonly chunkMaxBytes: number;
}

export function itemKey({ pk, sk }: ItemKey) {
  return { pk: { S: pk }, sk: { S: sk } };
}

const emptyHead: Head = parseHead({});

/** The head item as of now (strongly consistent), with its data or without. An absent item is an empty head. */
export async function readHead(table: SnapshotTable, key: ItemKey, what: 'all' | 'info'): Promise<Head> {
  const parts = new ExpressionParts();
  const info = infoAttributes.map((name) => parts.name(name)).join(', ');
  const { Item } = await table.client.send(
    new GetItemCommand({
      TableName: table.tableName,
      Key: itemKey(key),
      ConsistentRead: true,
      ...(what === 'info' && { ProjectionExpression: info, ...parts.attributes }),
    }),
  );
  return Item === undefined ? emptyHead : parseHead(Item);
}

/** The snapshot of a head unless it has expired: what a reader may see. */
export function liveSnapshot({ snapshot }: Head, now: Date): StoredSnapshot | undefined {
  return snapshot !== undefined && isLive(snapshot, now) ? snapshot : undefined;
}
