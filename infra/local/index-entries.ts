import type { ClassicLevel } from 'classic-level';
import dynalite, { type Operation, type StoredItem, type StoredTable } from 'dynalite/db/index.js';

/** Of `existing` that is replaced by `item`: neither is there before, or after. */
export function indexOperations(
  table: StoredTable,
  existing: StoredItem | null | undefined,
  item: StoredItem | null | undefined,
): Operation[] {
  const { puts, deletes } = dynalite.getIndexActions(
    table.LocalSecondaryIndexes ?? [],
    existing,
    item,
    table,
  );
  const placeOf = ({ index, key }: { index: string; key: string }) =>
    indexPrefix(table.TableName, index) + key;
  return [
    ...deletes.map((entry): Operation => ({ type: 'del', key: placeOf(entry) })),
    ...puts.map((entry): Operation => ({ type: 'put', key: placeOf(entry), value: entry.item })),
  ];
}

const indexPrefix = (table: string, index: string) => `index-local~${table}~${index}~`;
const itemPrefix = (table: string) => `item-${table}~`;

/**
 * Gives each item its index entries, and removes those without an item. Earlier versions wrote them one after the
 * other, the item last: an entry without its item is of a write that was never acknowledged, an item without its entry
 * of a removal that was not.
 */
export async function mendIndexes(
  database: ClassicLevel,
  tables: readonly StoredTable[],
): Promise<{ added: number; removed: number }> {
  let added = 0;
  let removed = 0;
  for (const table of tables) {
    const { TableName, LocalSecondaryIndexes = [] } = table;
    for (const { IndexName } of LocalSecondaryIndexes) {
      for await (const [key, text] of database.iterator(within(indexPrefix(TableName, IndexName)))) {
        const item = await database.get(itemPrefix(TableName) + dynalite.createKey(JSON.parse(text), table));
        if (item !== undefined && entriesOf(table, item).has(key)) continue;
        await database.del(key);
        removed++;
      }
    }
    if (LocalSecondaryIndexes.length === 0) continue;
    for await (const [, item] of database.iterator(within(itemPrefix(TableName)))) {
      for (const [key, text] of entriesOf(table, item)) {
        if ((await database.get(key)) === text) continue;
        await database.put(key, text);
        added++;
      }
    }
  }
  return { added, removed };
}

/** Removes what is no JSON, or an item under the key of another one. Resolves how many. */
export async function removeUnreadable(
  database: ClassicLevel,
  tables: readonly StoredTable[],
): Promise<number> {
  let removed = 0;
  const remove = async (key: string) => {
    await database.del(key);
    removed++;
  };
  for await (const [key, text] of database.iterator())
    if (!isRight(() => JSON.parse(text))) await remove(key);
  for (const table of tables) {
    const prefix = itemPrefix(table.TableName);
    for await (const [key, text] of database.iterator(within(prefix)))
      if (!isRight(() => prefix + dynalite.createKey(JSON.parse(text), table) === key)) await remove(key);
  }
  return removed;
}

function isRight(check: () => unknown): boolean {
  try {
    return check() !== false;
  } catch {
    return false;
  }
}

function entriesOf(table: StoredTable, item: string): Map<string, string> {
  const operations = indexOperations(table, undefined, JSON.parse(item));
  return new Map(
    operations.flatMap((operation) =>
      operation.type === 'put' ? [[operation.key, JSON.stringify(operation.value)]] : [],
    ),
  );
}

function within(prefix: string) {
  return { gte: prefix, lt: `${prefix}\xff` };
}
