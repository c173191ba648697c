import { link, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { ClassicLevel } from 'classic-level';
import { uncompress } from 'snappyjs';

/*
 * LevelDB stores a checksum with each block of a table, and does not look at it unless it is told to, which
 * classic-level cannot. A block that has changed may be read as other entries, or end the process within a compaction.
 * So they are looked at here, before a database is opened.
 */

/**
 * Removes tables whose checksums are wrong. If the database needs one, it cannot be opened any more and names it; a
 * table that a process was killed over is needed by none.
 *
 * @returns their names
 * @throws LEVEL_LOCKED when another process uses the database, and may be writing a table right now
 */
export async function removeDamagedTables(database: string): Promise<string[]> {
  const damaged: string[] = [];
  for (const name of await readdir(database))
    if (/\.(ldb|sst)$/.test(name) && !isWhole(await readFile(join(database, name)))) damaged.push(name);
  if (damaged.length > 0)
    await locked(database, async () => {
      for (const name of damaged) await rm(join(database, name));
    });
  return damaged;
}

/** LevelDB's lock is on a file, under whatever name: an empty database takes it without opening the other one. */
async function locked(database: string, work: () => Promise<void>): Promise<void> {
  const folder = await mkdtemp(`${database}.opened-`);
  try {
    await link(join(database, 'LOCK'), join(folder, 'LOCK')).catch(unlessMissing);
    // It opens by itself once it is made, and would make a file of that name.
    const holder = new ClassicLevel(folder);
    try {
      await holder.open();
      await work();
    } finally {
      await holder.close();
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function unlessMissing(error: NodeJS.ErrnoException): void {
  if (error.code !== 'ENOENT') throw error;
}

interface Handle {
  readonly offset: number;
  readonly size: number;
}

const footerBytes = 48;
const magic = 0xdb4775248b80fb57n;

/** The footer names two blocks; one names the data blocks, and the other those of filters. */
function isWhole(table: Buffer): boolean {
  try {
    const footer = table.subarray(table.length - footerBytes);
    if (footer.readBigUInt64LE(footerBytes - 8) !== magic) return false;
    const [meta, index] = handlesIn(footer, 2) as [Handle, Handle];
    const handles = [meta, index].flatMap((handle) => handlesOf(blockAt(table, handle)));
    for (const handle of handles) checkedBlock(table, handle);
    return true;
  } catch {
    return false;
  }
}

/** @throws RangeError when its checksum is wrong, or it does not lie in the table */
function checkedBlock(table: Buffer, { offset, size }: Handle): Buffer {
  const end = offset + size;
  const stored = (table.readUInt32LE(end + 1) - 0xa282ead8) >>> 0;
  const masked = ((stored >>> 17) | (stored << 15)) >>> 0;
  if (crc32c(table, offset, end + 1) !== masked) throw new RangeError('wrong checksum');
  return table.subarray(offset, end);
}

function blockAt(table: Buffer, handle: Handle): Buffer {
  const block = checkedBlock(table, handle);
  return table[handle.offset + handle.size] === 0 ? block : uncompress(block);
}

/** The values of a block's entries, each a handle. */
function handlesOf(block: Buffer): Handle[] {
  const restarts = block.readUInt32LE(block.length - 4);
  const end = block.length - 4 - 4 * restarts;
  const handles: Handle[] = [];
  let at = 0;
  while (at < end) {
    const lengths = varintsIn(block, at, 3);
    const [, unshared = 0, size = 0] = lengths.values;
    const value = lengths.end + unshared;
    handles.push(...handlesIn(block.subarray(value, value + size), 1));
    at = value + size;
  }
  return handles;
}

function handlesIn(bytes: Buffer, count: number): Handle[] {
  const { values } = varintsIn(bytes, 0, 2 * count);
  return Array.from({ length: count }, (_, index) => ({
    offset: values[2 * index] as number,
    size: values[2 * index + 1] as number,
  }));
}

function varintsIn(bytes: Buffer, from: number, count: number): { values: number[]; end: number } {
  const values: number[] = [];
  let end = from;
  while (values.length < count) {
    let value = 0;
    let byte = 0x80;
    for (let factor = 1; byte >= 0x80; factor *= 0x80) {
      byte = bytes.readUInt8(end++);
      value += (byte & 0x7f) * factor;
    }
    values.push(value);
  }
  return { values, end };
}

const crcOfByte = Uint32Array.from({ length: 256 }, (_, byte) => {
  let crc = byte;
  for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0x82f63b78 : crc >>> 1;
  return crc;
});

/** CRC-32C (Castagnoli). `zlib.crc32` has another polynomial. */
function crc32c(bytes: Buffer, from: number, to: number): number {
  let crc = 0xffffffff;
  for (let at = from; at < to; at++)
    crc = (crc >>> 8) ^ (crcOfByte[(crc ^ (bytes[at] as number)) & 0xff] as number);
  return (crc ^ 0xffffffff) >>> 0;
}
