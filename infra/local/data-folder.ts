import { join } from 'node:path';
import { Level } from 'level';

/** The data folder cannot be used; the message says which and why, in one line. */
export class DataFolderError extends Error {}

/**
 * The database's place in a data folder. Opens the database once and closes it again: dynalite opens it lazily, and
 * hides why that failed.
 *
 * @throws DataFolderError
 */
export async function databaseIn(folder: string): Promise<string> {
  const path = join(folder, 'dynamodb');
  const database = new Level(path);
  try {
    await database.open();
  } catch (error) {
    throw new DataFolderError(`the data folder ${folder} cannot be used: ${reasonOf(error)}`, {
      cause: error,
    });
  }
  await database.close();
  return path;
}

function reasonOf(error: unknown): string {
  const { code, message } = ((error as Error).cause ?? error) as NodeJS.ErrnoException;
  return code === 'LEVEL_LOCKED'
    ? 'another server is using it; choose another with --data, or --memory'
    : message.replace(/\s+/g, ' ');
}
