import { CorruptError } from '../../errors.ts';
import type { StoredRecord } from '../../memory/memory-store.ts';
import type { PlacedRecord } from '../../memory/record-place.ts';
import { isLive } from '../../persistence/expiry.ts';
import { type ChunkSet, formatChunkSet } from '../chunk-rows.ts';
import type { Item } from '../item.ts';
import { formatInfo, parseHead, parseInfo } from '../snapshots/head.ts';
import { ttlOf } from '../ttl.ts';
import { timeOf } from './keys.ts';

/** The item of a message or a capsule. */
export interface RecordRow {
  readonly sk: string;
  readonly id: string;
  /** Its place in the index, limbo included. */
  readonly place: string;
  readonly body: Uint8Array | undefined;
  readonly chunks: ChunkSet | undefined;
  /** Chunk sets whose rows may exist, those that may still be committed and those that can not. */
  readonly sets: readonly string[];
  readonly dead: readonly string[];
  readonly expiresAt: Date | undefined;
  /** It holds a record or a value, whose data may not have been read. */
  readonly hasInfo: boolean;
  /** The number of the call that stored it. */
  readonly arrival: number | undefined;
  readonly digest: Uint8Array | undefined;
  /** What a marker says (see fence.ts). */
  readonly fence: number | undefined;
  readonly fencedUntil: number | undefined;
  readonly gone:
    | {
        readonly arrival: number | undefined;
        readonly pruned: boolean;
        readonly compacted: { readonly at: number; readonly digest: Uint8Array } | undefined;
      }
    | undefined;
  /** The record without its data. Throws `CorruptError`. */
  info(): Omit<StoredRecord, 'dump'> & { readonly dump: Omit<StoredRecord['dump'], 'data'> };
}

/** Attributes that make a record; one in limbo has none of them but `place`. */
export const recordAttributes = ['place', 'info', 'ttl', 'body', 'chunks', 'arrival', 'digest'] as const;

/** What is read of a record that is to be removed. */
export const removalAttributes = [
  ...['sk', 'place', 'info', 'chunks', 'sets', 'dead', 'arrival', 'digest'],
  ...['fence', 'fencedUntil', 'gone'],
] as const;

/** `storedAt` is when it is written, which the record's own time need not be anywhere near. */
export function formatRecord(
  { dump, digest, expiresAt }: PlacedRecord,
  {
    place,
    set,
    storedAt,
    arrival,
  }: { place: string; set: ChunkSet | undefined; storedAt: Date; arrival: number },
): Item {
  return {
    place: { S: place },
    info: formatInfo(dump, storedAt, expiresAt),
    arrival: { N: String(arrival) },
    digest: { B: digest },
    ...(expiresAt && { ttl: { N: String(recordTtl(expiresAt, storedAt)) } }),
    ...(set === undefined ? { body: { B: dump.data } } : { chunks: { S: formatChunkSet(set) } }),
  };
}

/** Not in the past: DynamoDB never deletes what expired years ago, as an imported message may have. */
export function recordTtl(expiresAt: Date, now: Date): number {
  return ttlOf(expiresAt > now ? expiresAt : now);
}

export function parseRecord(item: Item): RecordRow {
  const { body, chunks, sets, dead, checksum } = parseHead(item);
  const info = item.info?.M ?? {};
  const sk = item.sk?.S ?? '';
  const expiresAt = info.expiresAt?.N === undefined ? undefined : new Date(Number(info.expiresAt.N));
  const id = sk.slice(sk.indexOf('/') + 1);
  const place = item.place?.S ?? '';
  const digest = item.digest?.B;
  const arrival = wholeOf(item.arrival?.N) ?? arrivalOfPlace(place);
  return {
    ...{ sk, id, place, body, chunks, sets, dead, expiresAt, arrival, digest },
    hasInfo: item.info !== undefined,
    fence: wholeOf(item.fence?.N),
    fencedUntil: wholeOf(item.fencedUntil?.N),
    gone: parseGone(item.gone?.M),
    info: () => {
      const { format, contentType, encoding, bytes } = parseInfo(info);
      const dump = { format, contentType, encoding, bytes, checksum };
      return { id, at: timeOf(place), expiresAt, arrival: arrival ?? 0, digest, dump };
    },
  };
}

function wholeOf(text: string | undefined): number | undefined {
  const value = Number(text ?? Number.NaN);
  return Number.isSafeInteger(value) ? value : undefined;
}

/** A record that was stored before calls had numbers: it had arrived when its number had been taken. One in limbo has none. */
function arrivalOfPlace(place: string): number | undefined {
  const number = wholeOf(place.split('.')[1]);
  return number === undefined ? undefined : number + 1;
}

function parseGone(gone: Item | undefined): RecordRow['gone'] {
  if (gone === undefined) return undefined;
  const [at, digest] = [wholeOf(gone.at?.N), gone.digest?.B];
  return {
    arrival: wholeOf(gone.arrival?.N),
    pruned: gone.pruned?.BOOL === true,
    compacted: at === undefined || digest === undefined ? undefined : { at, digest },
  };
}

/** What a reader may see: a record that is in place and has not expired. */
export function isVisible(row: RecordRow, now: Date): boolean {
  return row.place !== '' && !isInLimbo(row) && isLive(row, now);
}

/** Not in place yet, or not any more: somebody was at work on it, and may have died of it. */
export function isInLimbo({ place }: RecordRow): boolean {
  return place.startsWith('limbo/');
}

export function withData(row: RecordRow, data: Uint8Array | undefined): StoredRecord {
  const record = row.info();
  if (data === undefined) throw new CorruptError('the stored record has no data');
  return { ...record, dump: { ...record.dump, data } };
}
