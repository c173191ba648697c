import { compactedKnownForSecs, memoryConcurrency } from '../../defaults.ts';
import type { MemoryScope, Moment } from '../../memory/memory-store.ts';
import { digestOfMessage } from '../../memory/message-codec.ts';
import { forEachSettled } from '../for-each-settled.ts';
import { compactedMarker, forgetMarker } from './fence.ts';
import { removeRows } from './forget.ts';
import type { MemoryTable } from './lanes.ts';
import { getRows, wholeRecord } from './read.ts';
import { isVisible, type RecordRow } from './record.ts';
import { replaceByMarker } from './remove.ts';

/** Removes messages that a capsule stands for; what is left of each tells that it is known, and forgotten by nobody. */
export async function removeCompacted(
  table: MemoryTable,
  scope: MemoryScope,
  ids: readonly string[],
  { arrivals }: Pick<Moment, 'arrivals'>,
): Promise<number> {
  const rows = await getRows(table, scope, 'message', ids);
  const covered = rows.filter((row) => isVisible(row, table.clock()) && (row.arrival ?? 0) <= arrivals);
  const removed = await removeRows(table, scope, covered, async (row) => {
    const { at } = row.info();
    const until = row.expiresAt?.getTime() ?? table.clock().getTime() + compactedKnownForSecs * 1000;
    return compactedMarker(at, await digestOf(table, scope, row), until);
  });
  return removed.visible;
}

export async function releaseCompacted(
  table: MemoryTable,
  scope: MemoryScope,
  ids: readonly string[],
  moment: Moment,
): Promise<void> {
  const marker = forgetMarker({ horizon: moment.arrivals }, table.clock());
  const rows = await getRows(table, scope, 'message', ids);
  const compacted = rows.filter(({ place, gone }) => place === '' && gone?.compacted !== undefined);
  await forEachSettled(compacted, memoryConcurrency, (row) => replaceByMarker(table, scope, row, marker));
}

export async function forgottenAmong(
  table: MemoryTable,
  scope: MemoryScope,
  ids: readonly string[],
): Promise<string[]> {
  const rows = await getRows(table, scope, 'message', ids);
  const isForgotten = (row: RecordRow) =>
    !isVisible(row, table.clock()) && row.gone?.compacted === undefined && row.gone?.pruned === false;
  return rows.filter(isForgotten).map(({ id }) => id);
}

async function digestOf(table: MemoryTable, scope: MemoryScope, row: RecordRow): Promise<Uint8Array> {
  if (row.digest !== undefined) return row.digest;
  const record = await wholeRecord(table, scope, 'message', row);
  // Removed meanwhile: then what is under its key has changed, and the marker is not left.
  return record === undefined ? new Uint8Array() : digestOfMessage(record);
}
