import { GetItemCommand } from '@aws-sdk/client-dynamodb';
import { isLive } from '../../persistence/expiry.ts';
import type { ChunkedTable } from '../chunk-rows.ts';
import { ExpressionParts } from '../expression.ts';
import { type ItemKey, itemKey } from '../item.ts';
import type { Lanes } from '../lanes.ts';
import { type Head, infoAttributes, parseHead, type StoredSnapshot } from './head.ts';

/** The table, for those who write head items: each write is guarded by a lane. */
export interface HeadTable extends ChunkedTable {
  readonly lanes: Lanes;
}

const emptyHead: Head = parseHead({});

/**
 * The head item as of now (strongly consistent), with its data or without. An absent item is an empty head.
 *
 * @param lane the attribute of the one lane to read with the information; the data comes with all of them
 */
export async function readHead(
  table: ChunkedTable,
  key: ItemKey,
  what: 'all' | 'info',
  lane?: string,
): Promise<Head> {
  const parts = new ExpressionParts();
  const wanted = lane === undefined ? infoAttributes : [...infoAttributes, lane];
  const info = wanted.map((name) => parts.name(name)).join(', ');
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
