import { type FileHandle, open, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Operation } from 'dynalite/db/index.js';
import { messageOf } from '../../lib/message-of.ts';
import { DamagedFolderError, type DataFolder } from './data-folder.ts';
import type { Access, RawDatabase } from './dynalite-store.ts';
import {
  decodeWritten,
  digestOf,
  encodeWritten,
  openWriteMark,
  type Written,
  writtenKey,
} from './written.ts';

export interface RecordedWritesOptions {
  readonly folder: DataFolder;
  /** Checks the closed database before it is opened again. */
  readonly check: () => Promise<void>;
  /** Told in a line that nothing can be stored, and that it can again. */
  readonly report: (line: string) => void;
}

/** So long no write asks whether there is room again. */
const pauseMs = 500;

interface Waiting {
  readonly operations: readonly Operation[];
  resolve(): void;
  reject(error: unknown): void;
}

/**
 * Writes of a database in a folder, one after the other; those that come meanwhile are the next one, together. Each
 * records what the database holds with it (see `Written`), then sets the mark beside the database, and only then
 * is acknowledged.
 *
 * After a write that failed (a full disk, no file descriptors) LevelDB's log may end in half a record, and what
 * followed it would be lost at the next start. So nothing more is written, and the database is read as it is, until
 * there is room: then it is closed, checked and opened again. Whether the write that failed is in it is as uncertain as
 * of any write without an answer.
 */
export function recordedWrites(
  database: RawDatabase,
  { folder, check, report }: RecordedWritesOptions,
): Access {
  const mark = openWriteMark(folder.mark);
  let written = readWritten();
  let waiting: Waiting[] = [];
  let writing: Promise<void> | undefined;
  let failure: { readonly error: unknown; readonly retryAt: number } | undefined;
  /** Whether it was reported, and the next write that succeeds is too. */
  let isOutage = false;
  let recovery: Promise<void> | undefined;
  let isOpen = true;

  function readWritten(): Written {
    const said = decodeWritten(database.text(writtenKey));
    if (said === undefined) throw new Error('the database does not say what was written to it');
    return said;
  }

  async function writeAll(): Promise<void> {
    while (waiting.length > 0) {
      const group = waiting;
      waiting = [];
      try {
        if (failure !== undefined) await recovered();
        await commit(group.flatMap(({ operations }) => operations));
        for (const { resolve } of group) resolve();
      } catch (error) {
        for (const { reject } of group) reject(error);
      }
    }
    writing = undefined;
  }

  async function commit(operations: readonly Operation[]): Promise<void> {
    try {
      const texts = new Map<string, string | undefined>();
      // As LevelDB encodes them: keys that it takes for one are one here.
      for (const operation of operations)
        texts.set(
          operation.key.toWellFormed(),
          operation.type === 'put' ? JSON.stringify(operation.value) : undefined,
        );
      let { digest } = written;
      for (const [key, text] of texts) digest ^= digestOf(key, database.text(key)) ^ digestOf(key, text);
      const next = { count: written.count + 1, digest };
      texts.set(writtenKey, encodeWritten(next));
      await database.write([...texts].map(([key, text]) => operationOf(key, text)));
      mark.set(next.count);
      written = next;
    } catch (error) {
      fail(error);
      throw error;
    }
    if (isOutage) report('what is written is stored again');
    isOutage = false;
  }

  function fail(error: unknown): void {
    const isDamaged = error instanceof DamagedFolderError;
    if (isDamaged) report(error.message);
    else if (!isOutage)
      report(
        `nothing can be stored (${oneLine(error)}): writes are answered with 503, and each tries again; reads go on`,
      );
    failure = {
      error,
      retryAt: isDamaged ? Number.POSITIVE_INFINITY : isOutage ? performance.now() + pauseMs : 0,
    };
    isOutage = true;
  }

  /** Everybody who needs it waits for the same. */
  function recovered(): Promise<void> {
    recovery ??= recover().finally(() => {
      recovery = undefined;
    });
    return recovery;
  }

  async function recover(): Promise<void> {
    if (failure === undefined) return;
    if (performance.now() < failure.retryAt) throw failure.error;
    try {
      await assertRoom(folder);
      isOpen = false;
      await database.close();
      await check();
      await database.open();
      written = readWritten();
      isOpen = true;
    } catch (error) {
      fail(error);
      throw error;
    }
    failure = undefined;
  }

  return {
    write: (operations) =>
      new Promise((resolve, reject) => {
        waiting.push({ operations, resolve, reject });
        writing ??= writeAll();
      }),
    async readable() {
      if (!isOpen) await recovered();
    },
    async close() {
      await writing;
      await database.close();
      try {
        await synchronise(folder);
        mark.close();
      } catch (error) {
        report(`the last writes may not outlive a power failure (${oneLine(error)})`);
      }
    },
  };
}

function operationOf(key: string, text: string | undefined): Operation {
  return text === undefined ? { type: 'del', key } : { type: 'put', key, value: text, valueEncoding: 'utf8' };
}

function oneLine(error: unknown): string {
  return messageOf(error).replace(/\s+/g, ' ');
}

const logsOf = async ({ database }: DataFolder) =>
  (await readdir(database)).filter((name) => name.endsWith('.log')).map((name) => join(database, name));

const spareBytes = 1024 * 1024;
const spareDescriptors = 16;

/** Opening a database takes as many bytes as its logs have, which become tables, and some descriptors. */
async function assertRoom(folder: DataFolder): Promise<void> {
  let bytes = spareBytes;
  for (const log of await logsOf(folder)) bytes += (await stat(log)).size;
  const trial = join(folder.path, 'dynamodb-room');
  const opened: FileHandle[] = [];
  try {
    await writeFile(trial, Buffer.alloc(bytes), { flush: true });
    while (opened.length < spareDescriptors) opened.push(await open(trial));
  } finally {
    for (const file of opened) await file.close();
    await rm(trial, { force: true });
  }
}

/** Brings what LevelDB has handed to the operating system to the disk. */
async function synchronise(folder: DataFolder): Promise<void> {
  for (const log of await logsOf(folder)) {
    const file = await open(log);
    try {
      await file.sync();
    } finally {
      await file.close();
    }
  }
}
