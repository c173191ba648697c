import { constants, existsSync } from 'node:fs';
import { copyFile, link, mkdtemp, readdir, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';

/** What LevelDB appends to or locks, and nothing of the database is in. */
const notData = ['LOCK', 'LOG', 'LOG.old'];

/** Where LevelDB's own repair puts what it cannot use. */
export const lost = 'lost';

/** The files of a database as they are, in a folder of their own. */
export interface KeptFiles {
  readonly path: string;
  /** Puts them in the place of those that are there. */
  restore(): Promise<void>;
  discard(): Promise<void>;
}

/**
 * Keeps the files of a database that is going to be opened. To open a damaged one destroys more of it: LevelDB removes
 * the log of which it could read a part, and the tables that it does not know. It changes no file in place, so that
 * hard links keep them; where there are none, copies do.
 *
 * @throws NodeJS.ErrnoException ENOENT when another process removes files meanwhile
 */
export async function keepFiles(database: string): Promise<KeptFiles> {
  const path = await mkdtemp(prefixOf(database));
  const discard = () => rm(path, { recursive: true, force: true });
  try {
    for (const name of await readdir(database))
      if (!notData.includes(name) && name !== lost) await keepFile(join(database, name), join(path, name));
  } catch (error) {
    await discard();
    throw error;
  }
  return {
    path,
    discard,
    async restore() {
      const opened = await mkdtemp(`${database}.opened-`);
      await rename(database, join(opened, basename(database)));
      await rename(path, database);
      await rm(opened, { recursive: true, force: true });
    },
  };
}

const prefixOf = (database: string) => `${database}.kept-`;

async function keepFile(from: string, to: string): Promise<void> {
  try {
    await link(from, to);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') throw error;
    await copyFile(from, to, constants.COPYFILE_FICLONE);
  }
}

/** Ends a `restore` that the end of its process cut off. */
export async function finishRestore(database: string): Promise<void> {
  if (existsSync(database)) return;
  const [kept] = await leftOf(database, '.kept-');
  if (kept !== undefined) await rename(kept, database);
}

/** Removes what processes left that ended while they opened the database. Nobody else may be opening it. */
export async function discardLeft(database: string): Promise<void> {
  for (const kind of ['.kept-', '.opened-'])
    for (const left of await leftOf(database, kind)) await rm(left, { recursive: true, force: true });
}

async function leftOf(database: string, kind: string): Promise<string[]> {
  const folder = dirname(database);
  const names = await readdir(folder);
  return names.filter((name) => name.startsWith(basename(database) + kind)).map((name) => join(folder, name));
}
