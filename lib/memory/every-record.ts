import { exportPageBytes, recentPageSize } from '../defaults.ts';
import type { Dump } from '../persistence/snapshot-store.ts';
import type { MemoryContext } from './memory-context.ts';
import type { RecordKind, StoredRecord, TimeRange } from './memory-store.ts';

/** The session's records in order, page by page: never more than one page is held. */
export async function* everyRecord(
  { store, scope }: Pick<MemoryContext, 'store' | 'scope'>,
  kind: RecordKind,
  range: TimeRange = {},
): AsyncGenerator<readonly StoredRecord[], void, undefined> {
  let after: string | undefined;
  do {
    const page = await store.list(scope, kind, { ...range, order: 'asc', limit: recentPageSize, after });
    yield page.items;
    after = page.next;
  } while (after !== undefined);
}

interface DumpPage<Item> {
  readonly items: readonly Item[];
  readonly next?: string | undefined;
}

/**
 * What a list holds, page by page, where its items may be large: about a megabyte is held. The first read is small, and
 * later ones are larger for as long as items are small.
 */
export async function* inPagesOfBytes<Item extends { readonly dump: Dump }>(
  read: (query: { limit: number; after: string | undefined }) => Promise<DumpPage<Item>>,
): AsyncGenerator<Item, void, undefined> {
  let after: string | undefined;
  let limit = 4;
  do {
    const { items, next } = await read({ limit, after });
    yield* items;
    const bytes = items.reduce((sum, { dump }) => sum + dump.data.length, 0);
    limit = bytes > exportPageBytes ? Math.ceil(limit / 2) : Math.min(limit * 2, recentPageSize);
    after = next;
  } while (after !== undefined);
}
