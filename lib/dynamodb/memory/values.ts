import { GetItemCommand, PutItemCommand } from '@aws-sdk/client-dynamodb';
import { knowledgeShards, raceAttempts } from '../../defaults.ts';
import { CorruptError, ForgottenMeanwhileError, UnavailableError } from '../../errors.ts';
import type {
  AppendRequest,
  MemoryScope,
  NamedValue,
  ValuePage,
  ValueQuery,
  ValueScope,
} from '../../memory/memory-store.ts';
import type { Dump } from '../../persistence/snapshot-store.ts';
import { storeKeyScope } from '../../persistence/store-key.ts';
import { shardOf } from '../../sessions/shard-of.ts';
import type { ChunkedTable } from '../chunk-rows.ts';
import { ExpressionParts } from '../expression.ts';
import type { Item } from '../item.ts';
import { checkedKey } from '../item.ts';
import { type PagedQuery, queryPages } from '../query-pages.ts';
import { formatInfo, parseHead, parseInfo } from '../snapshots/head.ts';
import { isConditionFailure } from '../translate-error.ts';
import { forgetMarker, notFenced } from './fence.ts';
import { memoryPartition } from './keys.ts';
import { forgetKnowledge, putKnowledge } from './knowledge.ts';
import type { MemoryTable } from './lanes.ts';
import { getRowAt } from './read.ts';
import { parseRecord } from './record.ts';
import { replaceByMarker } from './remove.ts';
import { inTurn, takeTurn } from './turn.ts';

/**
 * Replaces what is under the key. In a session the call takes its turn like any other: a forget that comes meanwhile
 * refuses it, and it starts over; of two calls at once the one whose turn was later stays.
 */
export async function putValue(
  table: MemoryTable,
  scope: ValueScope,
  key: string,
  dump: Dump,
  { admit, since }: ValueOptions = {},
): Promise<void> {
  const itemKey = valueKey(scope, key);
  if (scope.kind === 'knowledge') return putKnowledge(table, itemKey, dump);
  const item = {
    ...itemKey,
    info: formatInfo(dump, table.clock(), undefined),
    body: { B: dump.data },
  };
  for (let attempt = 0; attempt < raceAttempts; attempt++) {
    const outcome = await inTurn(table, scope, { keys: [item.sk.S], count: 1, since, admit }, (turn) =>
      storeValue(table, scope, item, turn.arrivals),
    );
    if (outcome === 'stored') return;
    if (since !== undefined) throw new ForgottenMeanwhileError();
  }
  throw new UnavailableError('others went on forgetting, again and again');
}

export type ValueOptions = Pick<AppendRequest, 'admit' | 'since'>;

async function storeValue(
  table: MemoryTable,
  scope: MemoryScope,
  item: Item & { sk: { S: string } },
  arrival: number,
): Promise<'stored' | 'fenced'> {
  const parts = new ExpressionParts();
  const own = parts.value({ N: String(arrival) });
  const latest = `(attribute_not_exists(arrival) OR arrival <= ${own})`;
  try {
    await table.client.send(
      new PutItemCommand({
        TableName: table.tableName,
        Item: { ...item, arrival: { N: String(arrival) } },
        ConditionExpression: `${latest} AND ${notFenced(arrival, table.clock(), parts)}`,
        ...parts.attributes,
      }),
    );
    return 'stored';
  } catch (error) {
    if (!isConditionFailure(error)) throw error;
    const row = await getRowAt(table, scope, item.sk.S);
    // A later call has replaced what this one would have stored, or a forget has removed what it had stored.
    const isFencedOff = row !== undefined && !row.hasInfo && (row.gone?.arrival ?? row.arrival) !== arrival;
    return isFencedOff ? 'fenced' : 'stored';
  }
}

/**
 * In a session it leaves a marker, so that a call that began before cannot store the value again, nor for the first time
 * where its request is late.
 */
export async function forgetValue(table: MemoryTable, scope: ValueScope, key: string): Promise<boolean> {
  const itemKey = valueKey(scope, key);
  if (scope.kind === 'knowledge') return forgetKnowledge(table, itemKey);
  const { sk } = itemKey;
  for (let attempt = 0; attempt < raceAttempts; attempt++) {
    const { arrivals } = await takeTurn(table, scope, { keys: [], count: 1 });
    const row = (await getRowAt(table, scope, sk.S)) ?? parseRecord({ sk });
    const { hasInfo, arrival = 0, fence = 0 } = row;
    if (!hasInfo && fence > arrivals) return false;
    const isLater = hasInfo && arrival > arrivals;
    const marker = forgetMarker({ horizon: arrivals }, table.clock());
    if (!isLater && (await replaceByMarker(table, scope, row, marker))) return hasInfo;
  }
  throw new UnavailableError('others went on setting the value, again and again');
}

export async function getValue(
  table: ChunkedTable,
  scope: ValueScope,
  key: string,
): Promise<Dump | undefined> {
  const { Item } = await table.client.send(
    new GetItemCommand({ TableName: table.tableName, Key: valueKey(scope, key), ConsistentRead: true }),
  );
  return Item === undefined || isMarker(Item) ? undefined : parseValue(Item, valuePrefix(scope)).dump;
}

/**
 * Knowledge lies in several partitions, each in order: of each, no more is held than a page of DynamoDB, a megabyte.
 */
export async function listValues(
  table: ChunkedTable,
  scope: ValueScope,
  { limit, after }: ValueQuery,
): Promise<ValuePage> {
  const partitions =
    scope.kind !== 'knowledge'
      ? [memoryPartition(scope)]
      : Array.from({ length: knowledgeShards }, (_, shard) => knowledgePartition(scope.agent, shard));
  const prefix = valuePrefix(scope);
  const range = { prefix, after, limit: limit + 1 };
  const sorted = partitions.map((pk) => valuesIn(table, pk, range));
  const found: NamedValue[] = [];
  const firsts = await Promise.all(sorted.map((values) => values.next()));
  while (found.length <= limit) {
    const first = indexOfFirst(firsts);
    const value = firsts[first]?.value;
    if (value === undefined) break;
    found.push(parseValue(value, prefix));
    if (found.length <= limit) firsts[first] = await (sorted[first] as (typeof sorted)[number]).next();
  }
  const items = found.slice(0, limit);
  return { items, next: found.length > limit ? items.at(-1)?.key : undefined };
}

/** Items read at once where what was read was forgotten. */
const markersRead = 100;

/** Of these items the one whose key comes first, by its bytes. */
function indexOfFirst(items: readonly IteratorResult<Item, void>[]): number {
  let first = 0;
  for (const [index, { value }] of items.entries()) {
    const least = items[first]?.value;
    if (value !== undefined && (least === undefined || Buffer.compare(keyBytes(value), keyBytes(least)) < 0))
      first = index;
  }
  return first;
}

function keyBytes({ sk }: Item): Buffer {
  return Buffer.from(sk?.S ?? '');
}

async function* valuesIn(
  table: ChunkedTable,
  pk: string,
  { prefix, after, limit }: { prefix: string; after: string | undefined; limit: number },
): AsyncGenerator<Item, void, undefined> {
  const start = after === undefined ? undefined : { pk: { S: pk }, sk: { S: prefix + after } };
  // Many a value may have been forgotten.
  let read = limit / 2;
  const more = () => {
    read = Math.min(read * 2, Math.max(limit, markersRead));
    return read;
  };
  for await (const items of itemPages(table, pk, prefix, { ExclusiveStartKey: start, limit: more }))
    yield* items.filter((item) => !isMarker(item));
}

export async function listIdentities(table: ChunkedTable, scope: MemoryScope): Promise<string[]> {
  const escaped = new Set<string>();
  const attributes = { ProjectionExpression: 'sk, fence' };
  for await (const items of itemPages(table, memoryPartition(scope), userPrefix, attributes))
    for (const item of items) if (!isMarker(item)) escaped.add(item.sk?.S?.split('/')[1] ?? '');
  return [...escaped].map(decodeURIComponent).sort();
}

const userPrefix = 'user/';

/** What is left of a value that was forgotten. */
function isMarker(item: Item): boolean {
  return item.fence !== undefined || item.gone !== undefined;
}

/** The identity is escaped (see `storeKeyScope`), so that it ends at the second `/` whatever it holds. */
function valuePrefix(scope: ValueScope): string {
  if (scope.kind === 'lineage') return 'lineage/';
  return scope.kind === 'user' ? `${userPrefix}${storeKeyScope(scope.identity)}/` : 'key/';
}

function valueKey(scope: ValueScope, key: string) {
  const partition =
    scope.kind !== 'knowledge'
      ? memoryPartition(scope)
      : knowledgePartition(scope.agent, shardOf(key, knowledgeShards));
  return checkedKey(partition, valuePrefix(scope) + key);
}

function knowledgePartition(agent: string, shard: number): string {
  return `knowledge/${storeKeyScope(agent)}/${shard}`;
}

function parseValue(item: Item, prefix: string): NamedValue {
  const { checksum, body } = parseHead(item);
  if (body === undefined) throw new CorruptError('the stored value has no data');
  return {
    key: item.sk?.S?.slice(prefix.length) ?? '',
    dump: { ...parseInfo(item.info?.M ?? {}), checksum, data: body },
  };
}

function itemPages(
  table: ChunkedTable,
  pk: string,
  prefix: string,
  page: Pick<PagedQuery, 'limit' | 'ExclusiveStartKey' | 'ProjectionExpression'>,
): AsyncGenerator<Item[], void, undefined> {
  const parts = new ExpressionParts();
  const inPartition = `pk = ${parts.value({ S: pk })}`;
  return queryPages(table.client, {
    TableName: table.tableName,
    KeyConditionExpression: `${inPartition} AND begins_with(sk, ${parts.value({ S: prefix })})`,
    ...page,
    ...parts.attributes,
  });
}
