import { Readable } from 'node:stream';
import dynalite, {
  type Callback,
  type DynaliteDatabase,
  type DynaliteStore,
  type Operation,
  type RangeIterator,
} from 'dynalite/db/index.js';
import { indexOperations } from './index-entries.ts';

/** The database below everything that holds writes and reads back. */
export interface RawDatabase {
  write(operations: readonly Operation[]): Promise<void>;
  /** The JSON text under a key. Read at once: most are in memory, and a turn of a thread costs more. */
  text(key: string): string | undefined;
  close(): Promise<void>;
  open(): Promise<void>;
}

/** What writes and reads of a store go through. */
export interface Access {
  /** Does all of it or nothing. */
  write(operations: readonly Operation[]): Promise<void>;
  /** Resolves when the database can be read. */
  readable(): Promise<void>;
  /** Closes the database, after the writes under way. */
  close(): Promise<void>;
}

export interface OpenedStore {
  readonly store: DynaliteStore;
  /** Closes its database, after the writes under way. */
  close(): Promise<void>;
}

/** Index entries that belong to the item that is written next, in the same turn of the event loop. */
const joining = new WeakMap<DynaliteDatabase, Operation[]>();

/** dynalite writes the entries of an item one by one, and then the item: a process that dies in between leaves half of it. */
dynalite.updateIndexes = ({ db }, table, existing, item, writeItem) => {
  joining.set(db, indexOperations(table, existing, item));
  try {
    writeItem();
  } finally {
    joining.delete(db);
  }
};

/**
 * dynalite's store, mended where this project cannot live with it (it is not maintained any more):
 *
 * 1. Every iterator is closed, read to its end or not. dynalite asks its iterators for `return`, which they do not
 *    have, so that each query kept a view of the whole database open for ever.
 * 2. An item and its index entries are one write.
 * 3. Writes and reads go through `accessOver`, which may hold them back or refuse them.
 */
export async function openDynaliteStore(
  path: string | undefined,
  accessOver: (database: RawDatabase) => Access = accessAtOnce,
): Promise<OpenedStore> {
  const store = dynalite.create({
    ...(path !== undefined && { path }),
    createTableMs: 0,
    deleteTableMs: 0,
    updateTableMs: 0,
  });
  const { db } = store;
  // What waits for a database that opens would be sent through the methods below once more, as promises.
  await db.open();
  const { get, batch } = db;
  const access = accessOver({
    write: (operations) => batch(operations),
    text: (key) => db.getSync(key, { valueEncoding: 'utf8' }),
    close: () => db.close._original(),
    open: () => db.open(),
  });

  const write = (operations: readonly Operation[], callback: Callback = () => {}) => {
    const joined = joining.get(db) ?? [];
    joining.delete(db);
    settle(access.write([...joined, ...operations]), callback);
  };
  db.put = (key, value, callback) => write([{ type: 'put', key, value }], callback);
  db.del = (key, callback) => write([{ type: 'del', key }], callback);
  db.batch = write as DynaliteDatabase['batch'];
  const read = (key: string, callback: Callback) =>
    settle(
      access.readable().then(() => get(key)),
      callback,
    );
  db.get = read as DynaliteDatabase['get'];
  db.createKeyStream = (options) => streamOf(() => db.keys(options), access);
  db.createValueStream = (options) => streamOf(() => db.values(options), access);
  return { store, close: access.close };
}

function accessAtOnce({ write, close }: RawDatabase): Access {
  return { write, readable: async () => {}, close };
}

/** Not in the promise's own turn: what a callback throws must not become its rejection. */
function settle(promise: Promise<unknown>, callback: Callback): void {
  promise.then(
    (value) => setImmediate(callback, null, value),
    (error) => setImmediate(callback, error),
  );
}

/** So many entries at once at the most; LevelDB gives fewer where they are large. */
const entriesAtOnce = 100;

function streamOf(open: () => RangeIterator, access: Access): Readable {
  let iterator: RangeIterator | undefined;
  return new Readable({
    objectMode: true,
    construct(callback) {
      access.readable().then(() => {
        iterator = open();
        callback();
      }, callback);
    },
    read() {
      iterator?.nextv(entriesAtOnce).then(
        (entries) => {
          for (const entry of entries) this.push(entry);
          if (entries.length === 0) this.push(null);
        },
        (error) => this.destroy(error),
      );
    },
    destroy(error, callback) {
      if (iterator === undefined) callback(error);
      else
        iterator.close().then(
          () => callback(error),
          (closing) => callback(error ?? closing),
        );
    },
  });
}
