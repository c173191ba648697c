import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { dynamoDbMemoryStore } from '../../../lib/dynamodb/memory/store.ts';
import { sessionsTable } from '../../../lib/dynamodb/tables.ts';
import { digestOf } from '../../../lib/memory/digest.ts';
import type { MemoryStore } from '../../../lib/memory/memory-store.ts';
import { packValue } from '../../../lib/memory/message-codec.ts';
import { type ReusedTable, reusedTable } from '../../support/embedded-table.ts';
import { isWrite } from '../../support/failing-client.ts';
import { gate } from '../../support/gate.ts';
import { interruptedClient } from '../../support/pausing-client.ts';
import { randomBytesOf } from '../../support/random-bytes.ts';
import { testClock } from '../../support/test-clock.ts';

const clock = testClock();
const scope = { agent: 'agent', session: 's' };
const contents = { small: 1, large: randomBytesOf(200, 'large').toString('base64') };
type Id = keyof typeof contents;
const ids = Object.keys(contents) as Id[];
const everything = { from: 0, to: clock.now().getTime() + 1 };

/** Calls that remove, by how many readers could see of what they removed. */
const removals: Record<string, (store: MemoryStore) => Promise<number>> = {
  'forget of ids': async (store) => store.forgetIds(scope, 'message', ids, await store.beginForget(scope)),
  'forget of a range': async (store) =>
    store.forgetRange(scope, 'message', everything, await store.beginForget(scope)),
  prune: (store) => store.prune(scope, 'message', everything.to),
  'forget of the session': (store) => store.forgetScope(scope),
  'forget of what a compaction has removed meanwhile': async (store) => {
    const moment = await store.beginForget(scope);
    const removed = await store.removeCompacted(scope, ids, await store.moment(scope));
    await store.releaseCompacted(scope, ids, moment);
    return removed;
  },
};

/*
 * A removal begins, then a call that stores; a write of the latter arrives, the removal goes on to its end, and then a
 * copy of that write arrives. So the call is later than the removal, which removes what it has stored all the same.
 */
describe('a copy of a write that comes late, of a call that began during a removal', () => {
  let table: ReusedTable;
  beforeAll(async () => {
    table = await reusedTable(sessionsTable);
  });
  afterAll(() => table.close());

  const storeOver = (client: DynamoDBClient) =>
    dynamoDbMemoryStore({
      ...{ client, tableName: table.tableName, clock: clock.now },
      ...{ inlineMaxBytes: 100, chunkMaxBytes: 150 },
    });
  const append = async (store: MemoryStore, id: Id) => {
    const dump = await packValue(contents[id], 'value');
    await store.append(scope, 'message', {
      records: [{ id, at: undefined, dump, digest: digestOf(contents[id]) }],
      ...{ receivedAt: clock.now().getTime(), retentionSecs: undefined, requestId: undefined },
    });
  };
  /** How many records the removal says it has removed, unless it, or the call, has no such request any more. */
  const removedAround = async (
    remove: (store: MemoryStore) => Promise<number>,
    id: Id,
    { pausedAt, copied }: { pausedAt: number; copied: number },
  ): Promise<'no such pause' | 'no such copy' | number> => {
    await table.reset([]);
    // A record of before, so that a removal finds something in either case.
    await append(storeOver(table.client), id === 'small' ? 'large' : 'small');
    const [paused, resumed] = [gate(), gate()];
    const remover = interruptedClient(table.client, pausedAt, 'paused', async () => {
      paused.open();
      await resumed.promise;
    });
    const removal = remove(storeOver(remover.client));
    await Promise.race([paused.promise, removal]);
    const { client, wasReached } = interruptedClient(
      table.client,
      copied,
      'delivered twice',
      async () => {
        resumed.open();
        await removal;
      },
      { counts: isWrite },
    );
    await append(storeOver(client), id);
    resumed.open();
    const removed = await removal;
    if (!remover.wasReached()) return 'no such pause';
    return wasReached() ? removed : 'no such copy';
  };

  test.each(
    Object.entries(removals).flatMap(([name, remove]) => ids.map((id) => [name, id, remove] as const)),
  )('%s: a %s message is whole or gone, and gone where it was removed', async (_name, id, remove) => {
    let tried = 0;
    for (let pausedAt = 0; ; pausedAt++) {
      let removed: Awaited<ReturnType<typeof removedAround>> = 0;
      for (let copied = 0; typeof removed === 'number'; copied++) {
        const at = { pausedAt, copied };
        removed = await removedAround(remove, id, at);
        const { items } = await storeOver(table.client).list(scope, 'message', { order: 'asc', limit: 10 });
        const left = items.map((item) => item.id);
        expect([[], [id]], JSON.stringify(at)).toContainEqual(left.filter((one) => one === id));
        // The one of before is among what was removed.
        if (removed === 2) expect(left, JSON.stringify(at)).toEqual([]);
        tried++;
      }
      if (removed === 'no such pause') break;
    }
    expect(tried).toBeGreaterThan(10);
  });
});
