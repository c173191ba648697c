import { hash } from 'node:crypto';
import { promisify } from 'node:util';
import { gunzip, gzip, gzipSync, type ZlibOptions } from 'node:zlib';
import { compressInlineMaxBytes, compressMinBytes } from '../defaults.ts';
import { CorruptError } from '../errors.ts';
import type { EncodedState } from './codec.ts';
import type { Dump } from './snapshot-store.ts';

const compress = promisify(gzip);
const inflate = promisify(gunzip);

function checksumOf(data: Uint8Array): Uint8Array {
  return hash('sha256', data, 'buffer');
}

/** A small state is compressed in less time than handing it to another thread takes. */
async function gzipped(data: Uint8Array): Promise<Uint8Array> {
  return data.length <= compressInlineMaxBytes ? gzipSync(data, windowFor(data.length)) : compress(data);
}

/** As large as the state that it is for: zlib's defaults would set up a quarter of a megabyte to compress a kilobyte. */
function windowFor(bytes: number): ZlibOptions {
  const windowBits = Math.max(10, Math.ceil(Math.log2(bytes)));
  return { windowBits, memLevel: windowBits - 6, chunkSize: 1024 + bytes };
}

/** Compresses where that saves bytes, and takes the checksum of what will be stored. */
export async function packState({ format, contentType, data }: EncodedState): Promise<Dump> {
  const compressed = data.length < compressMinBytes ? data : await gzipped(data);
  const smaller = compressed.length < data.length;
  const stored = smaller ? compressed : data;
  return {
    format,
    contentType,
    encoding: smaller ? 'gzip' : 'identity',
    bytes: data.length,
    checksum: checksumOf(stored),
    data: stored,
  };
}

/**
 * Rejects a dump whose bytes are not the ones that were written. Everything read from a store passes here before
 * anybody sees it, also where the compressed bytes are handed on as they are.
 */
export function verifyDump(dump: Dump): Dump {
  if (
    !checksumOf(dump.data).every((byte, index) => byte === dump.checksum[index]) ||
    dump.checksum.length !== 32
  ) {
    throw new CorruptError('the stored bytes do not match their checksum');
  }
  return dump;
}

/** The bytes of the state. Never inflates past the recorded size. */
export async function unpackState(dump: Dump): Promise<Uint8Array> {
  verifyDump(dump);
  const data = dump.encoding === 'gzip' ? await inflateTo(dump.data, dump.bytes) : dump.data;
  if (data.length !== dump.bytes) {
    throw new CorruptError(
      `the stored bytes hold ${data.length} bytes of state, ${dump.bytes} were recorded`,
    );
  }
  return data;
}

async function inflateTo(data: Uint8Array, bytes: number): Promise<Uint8Array> {
  try {
    return await inflate(data, { maxOutputLength: Math.max(bytes, 1) });
  } catch (error) {
    throw new CorruptError('the stored bytes cannot be inflated', { cause: error });
  }
}
