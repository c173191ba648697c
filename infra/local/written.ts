import { hash } from 'node:crypto';
import { closeSync, fsyncSync, openSync, readFileSync, renameSync, writeFileSync, writeSync } from 'node:fs';
import { crc32 } from 'node:zlib';
import type { ClassicLevel } from 'classic-level';

/**
 * What a database says of itself, in an entry that each of its writes replaces: how many writes it has taken, and a
 * digest of all other entries. The digest is the XOR of one digest per entry, so that a write costs what it changes.
 */
export interface Written {
  readonly count: number;
  readonly digest: bigint;
}

/** No key of dynalite begins so. */
export const writtenKey = 'dormouse~written';

export function encodeWritten({ count, digest }: Written): string {
  return JSON.stringify({ count, digest: digest.toString(16) });
}

export function decodeWritten(text = ''): Written | undefined {
  try {
    const { count, digest } = JSON.parse(text);
    return Number.isSafeInteger(count) ? { count, digest: BigInt(`0x${digest}`) } : undefined;
  } catch {
    return undefined;
  }
}

/** @param text the value as JSON; an entry that is not there counts nothing */
export function digestOf(key: string, text: string | undefined): bigint {
  return text === undefined ? 0n : BigInt(`0x${hash('sha256', `${key} ${text}`, 'hex').slice(0, 32)}`);
}

export interface Content {
  /** Of all entries but that of `said`. */
  readonly digest: bigint;
  readonly entries: number;
  /** What the database says of itself, if it says anything that can be read. */
  readonly said: Written | undefined;
}

/** Reads everything once. */
export async function contentOf(database: ClassicLevel): Promise<Content> {
  let digest = 0n;
  let entries = 0;
  let said: Written | undefined;
  const iterator = database.iterator({ fillCache: false, highWaterMarkBytes: 1024 * 1024 });
  try {
    for (let page = await iterator.nextv(1000); page.length > 0; page = await iterator.nextv(1000)) {
      for (const [key, text] of page) {
        if (key === writtenKey) said = decodeWritten(text);
        else {
          digest ^= digestOf(key, text);
          entries++;
        }
      }
    }
  } finally {
    await iterator.close();
  }
  return { digest, entries, said };
}

/**
 * A file beside the database with the number of its last acknowledged write, replaced in place: the end of the
 * database's log cannot be missing without a word. It is not synchronised to the disk at each write: it outlives the
 * process, and after a power failure it may know of more writes than the database.
 */
export interface WriteMark {
  set(count: number): void;
  /** Brings it to the disk. */
  close(): void;
}

export function openWriteMark(path: string): WriteMark {
  const file = openSync(path, 'r+');
  return {
    set: (count) => void writeSync(file, encodeMark(count), 0),
    close() {
      fsyncSync(file);
      closeSync(file);
    },
  };
}

/** In the place of one that is there, or not at all: an end of the process leaves no half of it. */
export function putWriteMark(path: string, count: number): void {
  const made = `${path}.new`;
  writeFileSync(made, encodeMark(count), { flush: true });
  renameSync(made, path);
}

/** Undefined when there is none. */
export function readWriteMark(path: string): number | 'damaged' | undefined {
  try {
    const text = readFileSync(path, 'latin1');
    const count = Number(text.slice(0, 16));
    return text === encodeMark(count) ? count : 'damaged';
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

function encodeMark(count: number): string {
  const digits = String(count).padStart(16, '0');
  return `${digits} ${crc32(digits).toString(16).padStart(8, '0')}\n`;
}
