import { createHash } from 'node:crypto';
import { sessionShards } from '../defaults.ts';

/** The shard in which a session lies, for ever: moving one would register it twice. */
export function sessionShard(id: string): number {
  return createHash('sha256').update(id).digest().readUInt32BE(0) % sessionShards;
}
