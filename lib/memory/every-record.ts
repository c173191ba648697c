import { recentPageSize } from '../defaults.ts';
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
