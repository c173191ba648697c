import { hash } from 'node:crypto';
import { instanceShards } from '../../defaults.ts';
import { assertKeyFits, type ItemKey } from '../item.ts';

/**
 * The key of a snapshot's head item. Heads of one scope (an agent) are spread over shards by a hash of the rest of the
 * store key, so that no agent is bound to one partition, and lie in key order within a shard, so that they can be listed.
 */
export function headKey(storeKey: string): ItemKey {
  const slash = storeKey.indexOf('/');
  const rest = storeKey.slice(slash + 1);
  const shard = shardOf(rest);
  // A key without a scope, as a custom `keyFn` may make it, must not meet one whose scope is empty.
  const pk = slash < 0 ? `flat/${shard}` : shardKey(storeKey.slice(0, slash), shard);
  const key = { pk, sk: headSortKey(rest) };
  assertKeyFits(key.pk, key.sk);
  return key;
}

export function shardKey(scope: string, shard: number): string {
  return `heads/${scope}/${shard}`;
}

/** Never empty, whatever a custom `keyFn` makes: DynamoDB refuses empty keys. */
export function headSortKey(rest: string): string {
  return `key/${rest}`;
}

export function restOfSortKey(sortKey: string): string {
  return sortKey.slice(headSortKey('').length);
}

function shardOf(rest: string): number {
  return hash('sha256', rest, 'buffer').readUInt32BE(0) % instanceShards;
}
