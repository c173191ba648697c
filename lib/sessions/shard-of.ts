import { hash } from 'node:crypto';

/**
 * The shard, from 0 on, in which a name lies, for ever: another function, or another number of shards, would not find
 * what is stored.
 */
export function shardOf(name: string, shards: number): number {
  return hashOf(name) % shards;
}

/** 32 bits of a hash that spreads whatever names there are. */
export function hashOf(name: string): number {
  return hash('sha256', name, 'buffer').readUInt32BE(0);
}
