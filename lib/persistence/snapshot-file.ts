import { open } from 'node:fs/promises';
import { basename } from 'node:path';
import { CorruptError } from '../errors.ts';
import type { DumpFormat, Snapshot, SnapshotInfo } from './snapshot-store.ts';

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
  const { storeKey, info, checksum } = readHeader(file.subarray(0, end));
  // A shortened or altered rest is found by its checksum when it is unpacked; until then it can still be overwritten.
  return { storeKey, snapshot: { ...info, dump: { ...info, checksum, data: file.subarray(end + 1) } } };
}

function readHeader(line: Uint8Array): { storeKey: string; info: SnapshotInfo; checksum: Uint8Array } {
  const header = parseHeader(line);
  const { key, etag, version, format, contentType, encoding, bytes, storedBytes } = header;
  const info = {
    ...{ etag, version, format, contentType, encoding, bytes, storedBytes },
    updatedAt: new Date(header.updatedAt),
    expiresAt: header.expiresAt === undefined ? undefined : new Date(header.expiresAt),
  };
  return { storeKey: key, info, checksum: Buffer.from(header.checksum, 'hex') };
}

/** More than a header takes: its key and content type are bounded, and a control character in them takes six bytes. */
const headerMaxBytes = 16 * 1024;

/**
 * What the file says of its snapshot, without its data. Undefined where there is no such file any more.
 *
 * @throws CorruptError naming the file
 */
export async function readSnapshotHeader(
  path: string,
): Promise<{ storeKey: string; info: SnapshotInfo } | undefined> {
  const file = await open(path, 'r').catch(unlessMissing);
  if (file === undefined) return undefined;
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(headerMaxBytes), 0, headerMaxBytes, 0);
    const start = buffer.subarray(0, bytesRead);
    return readHeader(start.subarray(0, start.indexOf(newline)));
  } catch (error) {
    if (!(error instanceof CorruptError)) throw error;
    throw new CorruptError(`${error.message}: ${basename(path)}. Restore this file, or remove it`, {
      cause: error,
    });
  } finally {
    await file.close();
  }
}

/** Only "no such file" means that nothing is stored; a denied or failing read is an error. */
export function unlessMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code === 'ENOENT') return undefined;
  throw error;
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
