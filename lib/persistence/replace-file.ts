import { open, rename } from 'node:fs/promises';
import { dirname } from 'node:path';

/** The one name under which a file's next content is written: a crash leaves at most one, and the next write reuses it. */
export function temporaryPath(path: string): string {
  return `${path}.next`;
}

/**
 * 1. write the content under a temporary name, 2. sync it, 3. rename it over the file, 4. sync the folder.
 * A crash before 3 leaves the old file, after it the new one. Only for callers that hold the file's lock.
 */
export async function replaceFile(path: string, content: Uint8Array): Promise<void> {
  const temporary = temporaryPath(path);
  const file = await open(temporary, 'w', 0o600);
  try {
    await file.writeFile(content);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(temporary, path);
  await syncFolder(dirname(path));
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
