/** The parts of dynalite that this project puts together itself; it has no types of its own. */
declare module 'dynalite/db/index.js' {
  import type { Readable } from 'node:stream';

  /** An item as it travels: attributes by name, each `{type: value}`. */
  export type StoredItem = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

  /** A table as dynalite keeps it: what CreateTable was given, and more. */
  export interface StoredTable {
    readonly TableName: string;
    readonly KeySchema: readonly object[];
    readonly LocalSecondaryIndexes?: readonly { readonly IndexName: string }[];
  }

  export type Operation =
    | {
        readonly type: 'put';
        readonly key: string;
        readonly value: unknown;
        /** Of a value that is JSON already. */
        readonly valueEncoding?: 'utf8';
      }
    | { readonly type: 'del'; readonly key: string };

  export type Callback = (error: unknown, value?: unknown) => void;

  export interface RangeIterator {
    nextv(size: number): Promise<unknown[]>;
    close(): Promise<void>;
  }

  /** The one level database under all tables. Values are JSON. A method that is given a callback returns nothing. */
  export interface DynaliteDatabase {
    put(key: string, value: unknown, callback?: Callback): void;
    del(key: string, callback?: Callback): void;
    batch(operations: readonly Operation[], callback: Callback): void;
    batch(operations: readonly Operation[]): Promise<void>;
    get(key: string, callback: Callback): void;
    get(key: string): Promise<unknown>;
    getSync(key: string, options: { valueEncoding: 'utf8' }): string | undefined;
    keys(options: object): RangeIterator;
    values(options: object): RangeIterator;
    createKeyStream(options: object): Readable;
    createValueStream(options: object): Readable;
    open(): Promise<void>;
    close: { _original(): Promise<void> };
  }

  export interface DynaliteStore {
    readonly db: DynaliteDatabase;
  }

  export interface IndexAction {
    readonly index: string;
    readonly key: string;
    readonly item?: StoredItem;
  }

  const db: {
    create(options: {
      /** Where LevelDB keeps its files; without it, in memory. */
      path?: string;
      createTableMs: number;
      deleteTableMs: number;
      updateTableMs: number;
    }): DynaliteStore;
    createKey(item: StoredItem, table: StoredTable): string;
    getIndexActions(
      indexes: readonly object[],
      existing: StoredItem | null | undefined,
      item: StoredItem | null | undefined,
      table: StoredTable,
    ): { puts: IndexAction[]; deletes: IndexAction[] };
    updateIndexes(
      store: DynaliteStore,
      table: StoredTable,
      existing: StoredItem | null | undefined,
      item: StoredItem | null | undefined,
      callback: (error?: unknown) => void,
    ): void;
  };
  export default db;
}

declare module 'dynalite/validations/index.js' {
  const validations: {
    toLowerFirst(text: string): string;
    checkTypes(data: unknown, types: unknown): unknown;
    checkValidations(data: unknown, types: unknown, custom: unknown, store: unknown): void;
  };
  export default validations;
}
