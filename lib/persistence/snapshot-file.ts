import { CorruptError } from './persistence-error.ts';
import type { DumpFormat, Snapshot } from './snapshot-store.ts';

/** A snapshot file: one line of JSON that says what follows, then the stored bytes. */
interface FileHeader {
  readonly v: 1;
  readonly key: string;
  readonly etag: string;
  readonly version: number;
  readonly format: DumpFormat;
  readonly contentType: string;
  readonly encoding: 'gzip' | 'identity';
  readonly bytes: number;
  readonly storedBytes: number;
  readonly checksum: string;
  readonly updatedAt: string;
  readonly expiresAt?: string;
}

const newline = 10;

export function snapshotFile(key: string, snapshot: Snapshot): Buffer {
  const { dump, expiresAt, updatedAt, ...info } = snapshot;
  const header: FileHeader = {
    v: 1,
    key,
    ...info,
    checksum: Buffer.from(dump.checksum).toString('hex'),
    updatedAt: updatedAt.toISOString(),
    ...(expiresAt && { expiresAt: expiresAt.toISOString() }),
  };
  return Buffer.concat([Buffer.from(`${JSON.stringify(header)}\n`), dump.data]);
}

export function readSnapshotFile(file: Buffer): { storeKey: string; snapshot: Snapshot } {
  const end = file.indexOf(newline);
  const header = parseHeader(file.subarray(0, end));
  const { key, etag, version, format, contentType, encoding, bytes, storedBytes } = header;
  // A shortened or altered rest is found by its checksum when it is unpacked; until then it can still be overwritten.
  const data = file.subarray(end + 1);
  const snapshot: Snapshot = {
    ...{ etag, version, format, contentType, encoding, bytes, storedBytes },
    updatedAt: new Date(header.updatedAt),
    expiresAt: header.expiresAt === undefined ? undefined : new Date(header.expiresAt),
    dump: { format, contentType, encoding, bytes, checksum: Buffer.from(header.checksum, 'hex'), data },
  };
  return { storeKey: key, snapshot };
}

function parseHeader(line: Uint8Array): FileHeader {
  let header: Partial<FileHeader> | null;
  try {
    header = JSON.parse(Buffer.from(line).toString('utf8'));
  } catch (error) {
    throw new CorruptError('the snapshot file has no readable header', { cause: error });
  }
  const whole =
    header?.v === 1 &&
    [header.key, header.etag, header.contentType, header.checksum, header.updatedAt].every(isString) &&
    [header.version, header.bytes, header.storedBytes].every(Number.isSafeInteger) &&
    ['json', 'rich', 'bytes'].includes(header.format ?? '') &&
    ['gzip', 'identity'].includes(header.encoding ?? '');
  if (!whole) throw new CorruptError('the snapshot file has a header of another format');
  return header as FileHeader;
}

const isString = (value: unknown) => typeof value === 'string';
