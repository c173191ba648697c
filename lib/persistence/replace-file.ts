import { open, readdir, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';

const temporaryEnding = '.next';

/**
 * 1. write the content under a name that no other write has, 2. sync it, 3. rename it over the file, 4. sync the folder.
 * A crash before 3 leaves the old file, after it the new one.
 *
 * @param id of this write alone: a writer that was taken for dead must not share a file with the one after it
 * @param beforeRename throws where the writer may not replace the file any more
 */
export async function replaceFile(
  path: string,
  content: Uint8Array,
  { id, beforeRename }: { readonly id: string; readonly beforeRename: () => void },
): Promise<void> {
  const temporary = `${path}.${id}${temporaryEnding}`;
  const file = await open(temporary, 'wx', 0o600);
  try {
    await file.writeFile(content);
    await file.sync();
  } finally {
    await file.close();
  }
  try {
    beforeRename();
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
  await syncFolder(dirname(path));
}

/** Removes what writers of this file left that died. Only for callers that hold the file's lock. */
export async function removeTemporaries(path: string): Promise<void> {
  const folder = dirname(path);
  const start = `${basename(path)}.`;
  const names = await readdir(folder);
  const left = names.filter((name) => name.startsWith(start) && name.endsWith(temporaryEnding));
  await Promise.all(left.map((name) => rm(join(folder, name), { force: true })));
}

/** Not every system can sync a folder; where it can, the rename survives a power failure too. */
async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r').catch(() => undefined);
  try {
    await folder?.sync();
  } catch {
    return;
  } finally {
    await folder?.close();
  }
}
