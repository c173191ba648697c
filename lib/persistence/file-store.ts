import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import pMap from 'p-map';
import { lock } from 'proper-lockfile';
import { systemClock } from '../clock.ts';
import { CorruptError, PersistenceError, UnavailableError } from '../errors.ts';
import { randomEtag } from './etag.ts';
import { isLive } from './expiry.ts';
import { pageCollector } from './page-of.ts';
import { assertPreconditions } from './preconditions.ts';
import { removeTemporaries, replaceFile } from './replace-file.ts';
import { readSnapshotFile, readSnapshotHeader, snapshotFile, unlessMissing } from './snapshot-file.ts';
import { snapshotOf } from './snapshot-of.ts';
import type { Snapshot, SnapshotCatalog } from './snapshot-store.ts';
import type { StoreOptions } from './store-options.ts';

const listConcurrency = 16;

export interface FileStoreOptions extends StoreOptions {
  /** Only tests have a reason to change it. */
  readonly lockFile?: typeof lock | undefined;
}

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
  { clock = systemClock, newEtag = randomEtag, lockFile = lock }: FileStoreOptions = {},
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
    const release = await lockFile(pathOf(key), {
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
        exclusively(key, async (assertHeld) => {
          // Without a condition nothing is read, so that an unreadable file can be forgotten too.
          if (options.ifMatch ?? options.ifNoneMatch) assertPreconditions(options, (await read(key))?.etag);
          await removeTemporaries(pathOf(key));
          assertHeld();
          await rm(pathOf(key), { force: true });
        }),
      ),
    list: (query) =>
      guarded(async () => {
        const names = (await readDirectory(directory)).filter((name) => name.endsWith('.snapshot'));
        const found = pageCollector(query);
        // Headers only: of a folder of large states no more than a page's worth is held.
        await pMap(
          names,
          async (name) => {
            const header = await readSnapshotHeader(join(directory, name));
            if (header !== undefined && isLive(header.info, clock())) found.add(header.storeKey, header.info);
          },
          { concurrency: listConcurrency },
        );
        return found.page();
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

async function guarded<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof PersistenceError) throw error;
    throw new UnavailableError('the snapshot folder cannot be used', { cause: error });
  }
}
