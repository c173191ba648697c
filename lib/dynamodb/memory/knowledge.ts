import type { Dump } from '../../persistence/snapshot-store.ts';
import type { checkedKey } from '../item.ts';
import { formatInfo } from '../snapshots/head.ts';
import { updateOnce } from '../write-once.ts';
import { inADay } from './clock.ts';
import type { MemoryTable } from './lanes.ts';

/*
 * Knowledge belongs to an agent, and has no clock as sessions have. Each key is an item by itself, and each call one
 * update that takes effect once: a request that arrives again neither replaces what came later nor brings back what was
 * forgotten.
 */

type Key = ReturnType<typeof checkedKey>;

export async function putKnowledge(table: MemoryTable, key: Key, dump: Dump): Promise<void> {
  const attributes = { info: formatInfo(dump, table.clock(), undefined), body: { B: dump.data } };
  await updateOnce(table, key, (parts) => ({
    set: [parts.assign(attributes)],
    remove: ['gone', parts.name('ttl')],
  }));
}

/** Leaves the lanes of its writers for a day, so that late requests find theirs. */
export async function forgetKnowledge(table: MemoryTable, key: Key): Promise<boolean> {
  const left = { gone: { M: {} }, ttl: { N: String(inADay(table.clock())) } };
  const before = await updateOnce(table, key, (parts) => ({
    set: [parts.assign(left)],
    remove: ['info', 'body'],
    outcome: `if_not_exists(info, ${parts.value({ BOOL: false })})`,
  }));
  return before?.M !== undefined;
}
