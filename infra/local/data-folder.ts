import { mkdir, readdir, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { ClassicLevel } from 'classic-level';
import type { StoredTable } from 'dynalite/db/index.js';
import { mendIndexes, removeUnreadable } from './index-entries.ts';
import { discardLeft, finishRestore, keepFiles, lost } from './kept-files.ts';
import { removeDamagedTables } from './table-checksums.ts';
import {
  type Content,
  contentOf,
  encodeWritten,
  putWriteMark,
  readWriteMark,
  writtenKey,
} from './written.ts';

/** The data folder cannot be used; the message says which and why, in one line. */
export class DataFolderError extends Error {}

/** Something that was acknowledged is missing from it, or may be. */
export class DamagedFolderError extends DataFolderError {}

export interface DataFolder {
  readonly path: string;
  /** Where the database has its files. */
  readonly database: string;
  /** The file with the number of its last acknowledged write. */
  readonly mark: string;
}

export interface CheckOptions {
  readonly tables: readonly StoredTable[];
  /** Whether a damaged database is repaired, as far as that goes. Otherwise its files are left as they are. */
  readonly repair?: boolean | undefined;
  /** Told in a line what was found and mended. */
  readonly report: (line: string) => void;
}

export function dataFolderAt(path: string): DataFolder {
  return { path, database: join(path, 'dynamodb'), mark: join(path, 'dynamodb-writes') };
}

/**
 * Makes sure that the database of a data folder has all that it acknowledged, and leaves it closed:
 *
 * 1. keep its files, for opening a damaged one destroys more of it;
 * 2. look at the checksums of its tables, open it, which takes its lock, and read all of it;
 * 3. compare that with what it says of itself, and with the mark beside it;
 * 4. put the files back if it is damaged, and reject, or repair it.
 *
 * A database of an earlier version says nothing of itself: its indexes are mended, and it is marked.
 *
 * @throws DataFolderError
 */
export async function checkDataFolder(folder: DataFolder, options: CheckOptions): Promise<void> {
  const { repair, report } = options;
  try {
    await mkdir(folder.path, { recursive: true });
    await finishRestore(folder.database);
    await mkdir(folder.database, { recursive: true });
    const damage = await damageKept(folder, options);
    if (damage !== undefined) {
      if (!repair) throw damaged(folder, damage);
      report(await repaired(folder, damage, options));
    }
    await discardLeft(folder.database);
  } catch (error) {
    if (error instanceof DataFolderError) throw error;
    throw new DataFolderError(`the data folder ${folder.path} cannot be used: ${reasonOf(error)}`, {
      cause: error,
    });
  }
}

/** Resolves what is damaged. Unless all is well, the files are as they were. */
async function damageKept(folder: DataFolder, options: CheckOptions): Promise<string | undefined> {
  const kept = await keepFiles(folder.database);
  try {
    const damage = await damageOf(folder, options);
    if (damage !== undefined) await kept.restore();
    return damage;
  } catch (error) {
    if (!isLocked(error)) await kept.restore();
    throw error;
  } finally {
    await kept.discard();
  }
}

async function damageOf(folder: DataFolder, options: CheckOptions): Promise<string | undefined> {
  const acknowledged = readWriteMark(folder.mark);
  const files = await readdir(folder.database);
  // LevelDB would make an empty database of what is left, and remove the rest.
  if (!files.includes('CURRENT') && (files.some(holdsData) || (acknowledged ?? 0) !== 0))
    return `${join(folder.database, 'CURRENT')} is missing`;

  const removed = await removeDamagedTables(folder.database);
  const database = new ClassicLevel(folder.database);
  try {
    await database.open();
    const content = await contentOf(database);
    const damage = differenceOf(folder, content, acknowledged);
    const dropped = await droppedFrom(folder);
    if (damage !== undefined) return dropped === undefined ? damage : `${damage} (${dropped})`;
    if (content.said !== undefined) return undefined;
    if (dropped !== undefined) return dropped;
    if (content.entries > 0)
      options.report(
        `${folder.path} was written by an earlier version; from now on each start checks that all of it is there`,
      );
    await mendAndMark(folder, database, 1, options);
    return undefined;
  } catch (error) {
    if (!isDamage(error)) throw error;
    return removed.length > 0 ? `checksums are wrong in ${removed.join(', ')}` : reasonOf(error);
  } finally {
    await database.close();
  }
}

function holdsData(file: string): boolean {
  return /\.(ldb|sst|log)$/.test(file);
}

function differenceOf(
  { mark }: DataFolder,
  { digest, said }: Content,
  acknowledged: number | 'damaged' | undefined,
): string | undefined {
  const unknown = 'so that nothing tells whether the last writes are there';
  if (acknowledged === 'damaged') return `${mark} is damaged, ${unknown}`;
  if (said === undefined)
    return acknowledged ? `none of its ${acknowledged} writes can be shown to be there` : undefined;
  if (acknowledged === undefined) return `${mark} is missing, ${unknown}`;
  const missing = acknowledged - said.count;
  if (missing > 0) return `the last ${missing} of ${acknowledged} writes are missing`;
  return digest === said.digest ? undefined : 'what it holds is not what was written to it';
}

/** What LevelDB dropped of a damaged log as it opened. It goes on without a word to anybody but its own log. */
async function droppedFrom({ database }: DataFolder): Promise<string | undefined> {
  // A disk that is full has no room for a log either.
  const lines = await readFile(join(database, 'LOG'), 'utf8').catch(() => '');
  return /[^\s/\\]+: dropping \d+ bytes; [^\n]+/.exec(lines)?.[0];
}

/** LevelDB tells a file that is missing or too short from a full disk by the message only. */
function isDamage(error: unknown): boolean {
  const { code, message } = causeOf(error);
  return (
    code === 'LEVEL_CORRUPTION' ||
    (code === 'LEVEL_IO_ERROR' && /No such file|Invalid argument/.test(message))
  );
}

/** LevelDB says so; a file that vanishes while it is kept is removed by another server. */
function isLocked(error: unknown): boolean {
  const { code, syscall } = causeOf(error);
  return code === 'LEVEL_LOCKED' || (code === 'ENOENT' && syscall === 'link');
}

/** The mark comes first: a database that says how much it took, and has none, has lost it. */
async function mendAndMark(
  { path, mark }: DataFolder,
  database: ClassicLevel,
  count: number,
  { tables, report }: CheckOptions,
): Promise<Content> {
  const { added, removed } = await mendIndexes(database, tables);
  if (added + removed > 0)
    report(`${path}: ${added} missing index entries were added, and ${removed} without their item removed`);
  const content = await contentOf(database);
  putWriteMark(mark, 0);
  await database.put(writtenKey, encodeWritten({ count, digest: content.digest }), { sync: true });
  putWriteMark(mark, count);
  return content;
}

function damaged({ path }: DataFolder, damage: string): DamagedFolderError {
  return new DamagedFolderError(
    `the data folder ${path} is damaged, and was left as it is: ${damage}. Put a backup of the whole folder in its place, or start once with --repair to go on with what can still be read`,
  );
}

/** As far as it goes. The damaged files stay, beside it. */
async function repaired(folder: DataFolder, damage: string, options: CheckOptions): Promise<string> {
  const { path } = await keepFiles(folder.database);
  const copy = `${folder.database}.damaged-${new Date().toISOString().replaceAll(':', '-')}`;
  await rename(path, copy);
  await removeDamagedTables(folder.database);
  if ((await readdir(folder.database)).some(holdsData)) await ClassicLevel.repair(folder.database);
  await rm(join(folder.database, lost), { recursive: true, force: true });

  const database = new ClassicLevel(folder.database);
  try {
    await database.open();
    // LevelDB leaves tables in no order: what is asked for would be found in an older one first.
    await database.compactRange('\0', '\u{10ffff}');
    const removed = await removeUnreadable(database, options.tables);
    const { said } = await contentOf(database);
    const acknowledged = Number(readWriteMark(folder.mark)) || 0;
    const count = Math.max(said?.count ?? 0, acknowledged) + 1;
    const { entries } = await mendAndMark(folder, database, count, options);
    return `the data folder ${folder.path} was damaged (${damage}), and is repaired: ${entries} entries could be read, ${removed} were removed because they could not. The damaged files are in ${copy}`;
  } finally {
    await database.close();
  }
}

function reasonOf(error: unknown): string {
  return isLocked(error)
    ? 'another server is using it; choose another with --data, or --memory'
    : causeOf(error).message.replace(/\s+/g, ' ');
}

function causeOf(error: unknown): NodeJS.ErrnoException {
  return ((error as Error).cause ?? error) as NodeJS.ErrnoException;
}
