import type { MemoryScope, RecordKind } from '../../memory/memory-store.ts';
import { timeOfPlace } from '../../memory/record-place.ts';
import { storeKeyScope } from '../../persistence/store-key.ts';
import { checkedKey } from '../item.ts';

/** All of a session's memory lies in a partition of its own; no agent is bound to one partition. */
export function memoryPartition({ agent, session }: MemoryScope): string {
  return `memory/${storeKeyScope(agent, session)}`;
}

export function recordKey(scope: MemoryScope, kind: RecordKind, id: string) {
  return checkedKey(memoryPartition(scope), recordSortKey(kind, id));
}

export const recordSortKey = (kind: RecordKind, id: string) => `${kind}/${id}`;

const clockSortKey = 'arrivals';

export function clockKey(scope: MemoryScope) {
  return checkedKey(memoryPartition(scope), clockSortKey);
}

export function requestKey(scope: MemoryScope, requestId: string) {
  return checkedKey(memoryPartition(scope), `request/${requestId}`);
}

/**
 * A place in the local index. Records that readers see are under their kind; those that are not written to the end yet,
 * or not removed to the end, are in limbo, under the time since when.
 */
export const limboPlace = (since: number) => `limbo/${String(since).padStart(15, '0')}`;
export const recordPlace = (kind: RecordKind, place: string) => `${kind}/${place}`;

/** The record's time, from its place in the index. */
export function timeOf(place: string): number {
  return timeOfPlace(place.slice(place.indexOf('/') + 1));
}

export function kindOf(sortKey: string): RecordKind | undefined {
  const kind = sortKey.slice(0, sortKey.indexOf('/'));
  return kind === 'message' || kind === 'capsule' ? kind : undefined;
}
