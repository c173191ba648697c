import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import pMap from 'p-map';
import { lock } from 'proper-lockfile';
import { systemClock } from '../clock.ts';
import { randomEtag } from './etag.ts';
import { isLive } from './expiry.ts';
import { pageOf } from './page-of.ts';
import { CorruptError, PersistenceError, UnavailableError } from './persistence-error.ts';
import { assertPreconditions } from './preconditions.ts';
import { removeTemporaries, replaceFile } from './replace-file.ts';
import { readSnapshotFile, snapshotFile } from './snapshot-file.ts';
import { snapshotOf } from './snapshot-of.ts';
import type { Snapshot, SnapshotCatalog } from './snapshot-store.ts';
import type { StoreOptions } from './store-options.ts';

const listConcurrency = 16;

/**
 * Keeps each snapshot in a file of its own in `directory`, which is made if needed. A snapshot is written to a temporary
 * name, synced and renamed, so that a crash leaves the old one or the new one. Several processes may share the folder.
 *
 * @example
 * const store = fileStore('./agents-asleep');
 * await hibernate({ store }, 'support', 'user-123', { mood: 'calm' });
 */
export function fileStore(
  directory: string,
  { clock = systemClock, newEtag = randomEtag }: StoreOptions = {},
): SnapshotCatalog {
  // A name of one length and one case for any key; the key itself stands in the file.
  const pathOf = (key: string) =>
    join(directory, `${createHash('sha256').update(key).digest('hex')}.snapshot`);

  const read = async (key: string): Promise<Snapshot | undefined> => {
    const file = await readIfThere(pathOf(key));
    if (file === undefined) return undefined;
    const { storeKey, snapshot } = readSnapshotFile(file);
    if (storeKey !== key) throw new CorruptError('the file holds the snapshot of another key');
    return isLive(snapshot, clock()) ? snapshot : undefined;
  };

  /** Between reading the current snapshot and replacing it nobody else, in any process, may write the key. */
  const exclusively = async <T>(key: string, work: (assertHeld: () => void) => Promise<T>): Promise<T> => {
    await mkdir(directory, { recursive: true });
    let lost: Error | undefined;
    const assertHeld = () => {
      if (lost !== undefined)
        throw new UnavailableError('the lock of the snapshot was lost', { cause: lost });
    };
    const release = await lock(pathOf(key), {
      ...{ realpath: false, stale: 10_000, retries: lockRetries },
      // Without this the lock would end the process from a timer.
      onCompromised: (error) => {
        lost = error;
      },
    });
    try {
      return await work(assertHeld);
    } finally {
      // A lock that was lost is somebody else's to release.
      if (lost === undefined) await release();
    }
  };

  return {
    get: (key) => guarded(() => read(key)),
    head: (key) => guarded(() => read(key)),
    put: (key, dump, options = {}) =>
      guarded(() =>
        exclusively(key, async (assertHeld) => {
          const current = await read(key);
          assertPreconditions(options, current?.etag);
          const written = { etag: newEtag(), updatedAt: clock(), expiresAt: options.expiresAt };
          const snapshot = snapshotOf(dump, current, written);
          const { etag, version, updatedAt } = snapshot;
          await removeTemporaries(pathOf(key));
          await replaceFile(pathOf(key), snapshotFile(key, snapshot), { id: etag, beforeRename: assertHeld });
          return { etag, version, updatedAt, created: current === undefined };
        }),
      ),
    delete: (key, options = {}) =>
      guarded(() =>
        exclusively(key, async () => {
          // Without a condition nothing is read, so that an unreadable file can be forgotten too.
          if (options.ifMatch ?? options.ifNoneMatch) assertPreconditions(options, (await read(key))?.etag);
          await removeTemporaries(pathOf(key));
          await rm(pathOf(key), { force: true });
        }),
      ),
    list: (query) =>
      guarded(async () => {
        const names = (await readDirectory(directory)).filter((name) => name.endsWith('.snapshot'));
        const files = await pMap(names, (name) => readIfThere(join(directory, name)), {
          concurrency: listConcurrency,
        });
        const live = files
          .flatMap((file) => (file === undefined ? [] : [readSnapshotFile(file)]))
          .filter(({ snapshot }) => isLive(snapshot, clock()));
        return pageOf(live, query);
      }),
  };
}

const lockRetries = { retries: 200, factor: 1.2, minTimeout: 5, maxTimeout: 100, randomize: true };

async function readIfThere(path: string): Promise<Buffer | undefined> {
  return readFile(path).catch(unlessMissing);
}

async function readDirectory(path: string): Promise<string[]> {
  return (await readdir(path).catch(unlessMissing)) ?? [];
}

/** Only "no such file" means that nothing is stored; a denied or failing read is an error. */
function unlessMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code === 'ENOENT') return undefined;
  throw error;
}

async function guarded<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof PersistenceError) throw error;
    throw new UnavailableError('the snapshot folder cannot be used', { cause: error });
  }
}
