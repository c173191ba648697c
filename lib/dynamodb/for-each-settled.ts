import pMap from 'p-map';

/**
 * Does the work for each item, several at a time. After a failure it starts no more, waits for what is under way, then
 * rejects: a caller who cleans up must not be overtaken by a request that is still on its way.
 */
export async function forEachSettled<Item>(
  items: readonly Item[],
  concurrency: number,
  work: (item: Item, index: number) => Promise<unknown>,
): Promise<void> {
  const failures: unknown[] = [];
  await pMap(
    items,
    async (item, index) => {
      if (failures.length > 0) return;
      try {
        await work(item, index);
      } catch (error) {
        failures.push(error);
      }
    },
    { concurrency },
  );
  if (failures.length > 0) throw failures[0];
}
