import { instanceShards, sortKeyMaxBytes } from '../../defaults.ts';
import { InvalidOptionError } from '../../errors.ts';
import type { ListedSnapshot, ListSnapshotsQuery, SnapshotPage } from '../../persistence/snapshot-store.ts';
import type { ChunkedTable } from '../chunk-rows.ts';
import { ExpressionParts } from '../expression.ts';
import { itemKey } from '../item.ts';
import { queryPages } from '../query-pages.ts';
import { infoAttributes, parseHead } from './head.ts';
import { headKey, headSortKey, restOfSortKey, shardKey } from './keys.ts';
import { liveSnapshot } from './table.ts';

/** A place in the list: a shard and the last key seen in it. */
interface Place {
  readonly shard: number;
  readonly key: string | undefined;
}

/**
 * One page: the shards one after the other, each in key order. Reads on over empty and expired stretches, and one item
 * further than asked, so that a page has a `next` only if something follows.
 */
export async function listSnapshots(table: ChunkedTable, query: ListSnapshotsQuery): Promise<SnapshotPage> {
  const found: { place: Place; item: ListedSnapshot }[] = [];
  const start = parsePlace(query);
  for (let shard = start.shard; shard < instanceShards && found.length <= query.limit; shard++) {
    const after = shard === start.shard ? start.key : undefined;
    for await (const item of shardItems(table, query, { shard, key: after })) {
      found.push({ place: { shard, key: item.key }, item });
      if (found.length > query.limit) break;
    }
  }
  const page = found.slice(0, query.limit);
  const last = page.at(-1);
  const more = found.length > query.limit && last !== undefined;
  return {
    items: page.map(({ item }) => item),
    next: more ? `${last.place.shard}/${last.place.key}` : undefined,
  };
}

/** The place comes back from a caller: one that this list cannot have given is refused before DynamoDB sees it. */
function parsePlace({ scope, after, prefix = '' }: ListSnapshotsQuery): Place {
  if (after === undefined) return { shard: 0, key: undefined };
  const match = /^(0|[1-9]\d{0,2})\/(.+)/s.exec(after);
  const shard = Number(match?.[1]);
  const key = match?.[2] ?? '';
  const isOurs =
    key.startsWith(prefix) &&
    Buffer.byteLength(headSortKey(key)) <= sortKeyMaxBytes &&
    headKey(`${scope}/${key}`).pk === shardKey(scope, shard);
  if (!isOurs) throw new InvalidOptionError('the list cannot go on from there');
  return { shard, key };
}

async function* shardItems(
  table: ChunkedTable,
  { scope, prefix = '', limit }: ListSnapshotsQuery,
  { shard, key }: Place,
): AsyncGenerator<ListedSnapshot> {
  const pk = shardKey(scope, shard);
  const parts = new ExpressionParts();
  const inShard = `${parts.name('pk')} = ${parts.value({ S: pk })}`;
  const withPrefix = `begins_with(${parts.name('sk')}, ${parts.value({ S: headSortKey(prefix) })})`;
  const pages = queryPages(table.client, {
    TableName: table.tableName,
    KeyConditionExpression: `${inShard} AND ${withPrefix}`,
    ProjectionExpression: ['sk', ...infoAttributes].map((name) => parts.name(name)).join(', '),
    limit: () => limit + 1,
    ExclusiveStartKey: key === undefined ? undefined : itemKey({ pk, sk: headSortKey(key) }),
    ...parts.attributes,
  });
  for await (const items of pages) {
    for (const item of items) {
      const info = liveSnapshot(parseHead(item), table.clock())?.info();
      if (info !== undefined) yield { ...info, key: restOfSortKey(item.sk?.S ?? '') };
    }
  }
}
