import { raceAttempts } from '../../defaults.ts';
import { CorruptError, UnavailableError } from '../../errors.ts';
import type { Snapshot, SnapshotInfo } from '../../persistence/snapshot-store.ts';
import { type ChunkedTable, readChunkRows } from '../chunk-rows.ts';
import type { Head } from './head.ts';
import { headKey } from './keys.ts';
import { liveSnapshot, readHead } from './table.ts';

/**
 * The stored snapshot, whole. A chunk row that is missing means that a newer snapshot was committed since the head was
 * read, and the read starts over; if the head is still the same one, the snapshot is corrupt. Without its data, and
 * without a read of chunk rows, where `isWanted` says no to what the head tells.
 */
export async function getSnapshot(
  table: ChunkedTable,
  storeKey: string,
  isWanted?: (info: SnapshotInfo) => boolean,
): Promise<Snapshot | SnapshotInfo | undefined> {
  const key = headKey(storeKey);
  let incomplete: string | undefined;
  for (let attempt = 0; attempt < raceAttempts; attempt++) {
    const head = await readHead(table, key, 'all');
    const info = liveSnapshot(head, table.clock())?.info();
    if (info === undefined) return undefined;
    if (isWanted?.(info) === false) return info;
    const data = await dataOf(table, head, info);
    if (data !== undefined) return { ...info, dump: { ...info, checksum: head.checksum, data } };
    if (incomplete === info.etag) throw new CorruptError('a chunk row of the stored snapshot is missing');
    incomplete = info.etag;
  }
  throw new UnavailableError('the snapshot was replaced during every attempt to read it');
}

async function dataOf(table: ChunkedTable, head: Head, info: SnapshotInfo): Promise<Uint8Array | undefined> {
  if (head.chunks !== undefined) return readChunkRows(table, head.chunks);
  if (head.body === undefined && info.storedBytes > 0) throw new CorruptError('the head item has no data');
  return head.body ?? new Uint8Array();
}

/** As `getSnapshot`, without reading a chunk row. */
export async function headSnapshot(table: ChunkedTable, storeKey: string): Promise<SnapshotInfo | undefined> {
  return liveSnapshot(await readHead(table, headKey(storeKey), 'info'), table.clock())?.info();
}
