import { GetItemCommand } from '@aws-sdk/client-dynamodb';
import pMap from 'p-map';
import { chunkConcurrency, memoryConcurrency } from '../../defaults.ts';
import { InvalidInputError } from '../../errors.ts';
import type {
  MemoryScope,
  RecordKind,
  RecordPage,
  RecordQuery,
  StoredRecord,
} from '../../memory/memory-store.ts';
import { isPlace, justAfter, justBefore, placesOf } from '../../memory/record-place.ts';
import type { ChunkedTable } from '../chunk-rows.ts';
import { readChunkRows } from '../chunk-rows.ts';
import { ExpressionParts } from '../expression.ts';
import { checkedKey } from '../item.ts';
import { queryPages } from '../query-pages.ts';
import { sessionsTable } from '../tables.ts';
import { memoryPartition, recordPlace, recordSortKey } from './keys.ts';
import { isVisible, parseRecord, type RecordRow, withData } from './record.ts';

interface FoundRecord {
  readonly record: StoredRecord;
  readonly place: string;
}

/** The item under the id as of now (strongly consistent), whatever its state. */
export function getRow(
  table: ChunkedTable,
  scope: MemoryScope,
  kind: RecordKind,
  id: string,
): Promise<RecordRow | undefined> {
  return getRowAt(table, scope, recordSortKey(kind, id));
}

export async function getRowAt(
  table: ChunkedTable,
  scope: MemoryScope,
  sk: string,
): Promise<RecordRow | undefined> {
  const { Item } = await table.client.send(
    new GetItemCommand({
      TableName: table.tableName,
      Key: checkedKey(memoryPartition(scope), sk),
      ConsistentRead: true,
    }),
  );
  return Item && parseRecord({ ...Item, sk: { S: sk } });
}

/** Those of these ids that there are. */
export async function getRows(
  table: ChunkedTable,
  scope: MemoryScope,
  kind: RecordKind,
  ids: readonly string[],
): Promise<RecordRow[]> {
  const rows = await pMap(ids, (id) => getRow(table, scope, kind, id), { concurrency: memoryConcurrency });
  return rows.filter((row) => row !== undefined);
}

/** The record that readers see under the id. */
export async function getRecord(
  table: ChunkedTable,
  scope: MemoryScope,
  kind: RecordKind,
  id: string,
): Promise<StoredRecord | undefined> {
  const row = await getRow(table, scope, kind, id);
  if (row === undefined || !isVisible(row, table.clock())) return undefined;
  return wholeRecord(table, scope, kind, row);
}

/**
 * The record of an item that was read, with its data. Undefined when it was removed since: then its chunk rows are gone
 * too. A missing chunk row of a record that is still there makes it corrupt.
 */
export async function wholeRecord(
  table: ChunkedTable,
  scope: MemoryScope,
  kind: RecordKind,
  row: RecordRow,
): Promise<StoredRecord | undefined> {
  if (row.chunks === undefined) return withData(row, row.body);
  const data = await readChunkRows(table, row.chunks);
  if (data !== undefined) return withData(row, data);
  const now = await getRow(table, scope, kind, row.id);
  return now?.place === row.place ? withData(row, undefined) : undefined;
}

/** One page. Reads on over removed and expired stretches, and one record further than asked (see `RecordPage.next`). */
export async function listRecords(
  table: ChunkedTable,
  scope: MemoryScope,
  kind: RecordKind,
  query: RecordQuery,
): Promise<RecordPage> {
  const { limit, order } = query;
  const bounds = boundsOf(kind, query);
  const found: FoundRecord[] = [];
  for await (const rows of indexPages(table, scope, {
    ...bounds,
    descending: order === 'desc',
    limit: limit + 1,
  })) {
    const visible = rows.filter((row) => isVisible(row, table.clock())).slice(0, limit + 1 - found.length);
    const records = await pMap(visible, (row) => wholeRecord(table, scope, kind, row), {
      concurrency: chunkConcurrency,
    });
    for (const [index, { place }] of visible.entries()) {
      const record = records[index];
      if (record !== undefined) found.push({ record, place });
    }
    if (found.length > limit) break;
  }
  const last = found[limit - 1];
  return {
    items: found.slice(0, limit).map(({ record }) => record),
    next: found.length > limit ? last?.place.slice(recordPlace(kind, '').length) : undefined,
  };
}

function boundsOf(
  kind: RecordKind,
  { after, order, ...range }: RecordQuery,
): { first: string; last: string } {
  if (after !== undefined && !isPlace(after))
    throw new InvalidInputError('after', 'the list cannot go on from there');
  let { first, last } = placesOf(range);
  if (after !== undefined && order === 'asc' && justAfter(after) > first) first = justAfter(after);
  if (after !== undefined && order === 'desc' && justBefore(after) < last) last = justBefore(after);
  return { first: recordPlace(kind, first), last: recordPlace(kind, last) };
}

export interface IndexRange {
  readonly first: string;
  readonly last: string;
  readonly descending?: boolean;
  readonly limit?: number;
  /** Which attributes to read; all of them when unset. */
  readonly attributes?: readonly string[];
}

/** The items of a range of the index, in order, page by page. */
export async function* indexPages(
  table: ChunkedTable,
  scope: MemoryScope,
  { first, last, descending = false, limit, attributes }: IndexRange,
): AsyncGenerator<RecordRow[]> {
  // DynamoDB refuses a range that ends before it begins.
  if (first > last) return;
  const parts = new ExpressionParts();
  const inScope = `pk = ${parts.value({ S: memoryPartition(scope) })}`;
  const inRange = `place BETWEEN ${parts.value({ S: first })} AND ${parts.value({ S: last })}`;
  const query = {
    TableName: table.tableName,
    IndexName: sessionsTable.localIndex?.name,
    KeyConditionExpression: `${inScope} AND ${inRange}`,
    ScanIndexForward: !descending,
    ...(limit !== undefined && { limit: () => limit }),
    ...(attributes && { ProjectionExpression: attributes.map((name) => parts.name(name)).join(', ') }),
    ...parts.attributes,
  };
  for await (const items of queryPages(table.client, query)) yield items.map(parseRecord);
}
