import { DeleteItemCommand, PutItemCommand, QueryCommand } from '@aws-sdk/client-dynamodb';
import pMap from 'p-map';
import { chunkConcurrency, knowledgeShards } from '../defaults.ts';
import type { MemoryScope, NamedValue, ValueScope } from '../memory/memory-store.ts';
import { CorruptError } from '../persistence/persistence-error.ts';
import type { Dump } from '../persistence/snapshot-store.ts';
import { storeKeyScope } from '../persistence/store-key.ts';
import { shardOf } from '../sessions/shard-of.ts';
import { checkedKey } from './checked-key.ts';
import { ExpressionParts } from './expression.ts';
import { memoryPartition } from './memory-keys.ts';
import { formatInfo, type Item, parseHead, parseInfo } from './snapshot-head.ts';
import type { SnapshotTable } from './snapshot-table.ts';

export async function putValue(
  table: SnapshotTable,
  scope: ValueScope,
  key: string,
  dump: Dump,
): Promise<void> {
  const info = formatInfo(dump, table.clock(), undefined);
  await table.client.send(
    new PutItemCommand({
      TableName: table.tableName,
      Item: { ...valueKey(scope, key), info, body: { B: dump.data } },
    }),
  );
}

export async function forgetValue(table: SnapshotTable, scope: ValueScope, key: string): Promise<boolean> {
  const { Attributes } = await table.client.send(
    new DeleteItemCommand({ TableName: table.tableName, Key: valueKey(scope, key), ReturnValues: 'ALL_OLD' }),
  );
  return Attributes !== undefined;
}

export async function listValues(table: SnapshotTable, scope: ValueScope): Promise<NamedValue[]> {
  const partitions =
    scope.kind === 'user'
      ? [memoryPartition(scope)]
      : Array.from({ length: knowledgeShards }, (_, shard) => knowledgePartition(scope.agent, shard));
  const prefix = valuePrefix(scope);
  const items = await pMap(partitions, (pk) => itemsOf(table, pk, prefix), { concurrency: chunkConcurrency });
  const values = items.flat().map((item) => parseValue(item, prefix));
  return values.sort((a, b) => (a.key < b.key ? -1 : 1));
}

export async function listIdentities(table: SnapshotTable, scope: MemoryScope): Promise<string[]> {
  const items = await itemsOf(table, memoryPartition(scope), userPrefix, ['sk']);
  const escaped = items.map(({ sk }) => sk?.S?.split('/')[1] ?? '');
  return [...new Set(escaped)].map(decodeURIComponent).sort();
}

const userPrefix = 'user/';

/** The identity is escaped (see `storeKeyScope`), so that it ends at the second `/` whatever it holds. */
function valuePrefix(scope: ValueScope): string {
  return scope.kind === 'user' ? `${userPrefix}${storeKeyScope(scope.identity)}/` : 'key/';
}

function valueKey(scope: ValueScope, key: string) {
  const partition =
    scope.kind === 'user'
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

async function itemsOf(
  table: SnapshotTable,
  pk: string,
  prefix: string,
  attributes?: readonly string[],
): Promise<Item[]> {
  const items: Item[] = [];
  let startKey: Item | undefined;
  do {
    const parts = new ExpressionParts();
    const inPartition = `pk = ${parts.value({ S: pk })}`;
    const { Items = [], LastEvaluatedKey } = await table.client.send(
      new QueryCommand({
        TableName: table.tableName,
        KeyConditionExpression: `${inPartition} AND begins_with(sk, ${parts.value({ S: prefix })})`,
        ConsistentRead: true,
        ExclusiveStartKey: startKey,
        ...(attributes && { ProjectionExpression: attributes.join(', ') }),
        ...parts.attributes,
      }),
    );
    items.push(...Items);
    startKey = LastEvaluatedKey?.pk === undefined ? undefined : LastEvaluatedKey;
  } while (startKey !== undefined);
  return items;
}
