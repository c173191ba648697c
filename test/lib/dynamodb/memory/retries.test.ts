import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { dynamoDbMemoryStore } from '../../../../lib/dynamodb/memory/store.ts';
import { sessionsTable } from '../../../../lib/dynamodb/tables.ts';
import { digestOf } from '../../../../lib/memory/digest.ts';
import type { MemoryStore } from '../../../../lib/memory/memory-store.ts';
import { packValue } from '../../../../lib/memory/message-codec.ts';
import { type ReusedTable, reusedTable } from '../../../support/embedded-table.ts';
import { clientWithFate, isWrite, sdkError } from '../../../support/failing-client.ts';
import { interruptedClient } from '../../../support/pausing-client.ts';
import { randomBytesOf } from '../../../support/random-bytes.ts';
import { testClock } from '../../../support/test-clock.ts';

/* Each call on memory, at each of its writes: one that is sent twice, or lost, or that DynamoDB refuses. */

const clock = testClock();
const throttled = sdkError('ThrottlingException');
const large = randomBytesOf(200, 'large').toString('base64');
const scope = { agent: 'agent', session: 's' };
let table: ReusedTable;
beforeAll(async () => {
  table = await reusedTable(sessionsTable);
});
afterAll(() => table.close());

const storeOver = (client: DynamoDBClient = table.client) =>
  dynamoDbMemoryStore({
    ...{ client, tableName: table.tableName, clock: clock.now },
    ...{ inlineMaxBytes: 100, chunkMaxBytes: 150 },
  });
const user = { kind: 'user', ...scope, identity: 'ann' } as const;
const append = async (store: MemoryStore, contents: Record<string, unknown>, requestId?: string) => {
  const records = Object.entries(contents).map(async ([id, content]) => {
    const dump = await packValue(content, 'value');
    return { id, at: undefined, dump, digest: digestOf(content) };
  });
  const appended = await store.append(scope, 'message', {
    ...{ records: await Promise.all(records), receivedAt: clock.now().getTime() },
    ...{ retentionSecs: undefined, requestId },
  });
  return appended.map((one) => ('created' in one ? one.created : 'compacted'));
};
const setKey = async (store: MemoryStore) => store.putValue(user, 'k', await packValue('new', 'value'));

interface Call {
  readonly prepare?: (store: MemoryStore) => Promise<unknown>;
  readonly call: (store: MemoryStore) => Promise<unknown>;
  readonly result: unknown;
  /** What it resolves once it has been done. */
  readonly again: unknown;
}
const prepare = async (store: MemoryStore) => {
  await append(store, { small: 1, large });
  await setKey(store);
};
const calls: Record<string, Call> = {
  'append of several, by a name': {
    call: (store) => append(store, { a: 1, b: large }, 'request'),
    ...{ result: [true, true], again: [false, false] },
  },
  'append of what is there, by its name': {
    prepare: (store) => append(store, { a: 1, b: large }, 'request'),
    call: (store) => append(store, { a: 1, b: large }, 'request'),
    ...{ result: [false, false], again: [false, false] },
  },
  'forget of ids': {
    prepare,
    call: async (store) =>
      store.forgetIds(scope, 'message', ['small', 'large'], await store.beginForget(scope)),
    ...{ result: 2, again: 0 },
  },
  'removal of compacted messages': {
    prepare,
    call: async (store) => store.removeCompacted(scope, ['small', 'large'], await store.moment(scope)),
    ...{ result: 2, again: 0 },
  },
  'release of compacted messages': {
    prepare: async (store) => {
      await prepare(store);
      await store.removeCompacted(scope, ['small', 'large'], await store.moment(scope));
    },
    call: async (store) => store.releaseCompacted(scope, ['small', 'large'], await store.beginForget(scope)),
    ...{ result: undefined, again: undefined },
  },
  'prune of messages': {
    prepare,
    call: (store) => store.prune(scope, 'message', clock.now().getTime()),
    ...{ result: 2, again: 0 },
  },
  'forget of a session': { prepare, call: (store) => store.forgetScope(scope), result: 2, again: 0 },
  'set of a key': { call: setKey, result: undefined, again: undefined },
  'forget of a key': { prepare, call: (store) => store.forgetValue(user, 'k'), result: true, again: false },
  'forget of a key that is not set': {
    ...{ call: (store) => store.forgetValue(user, 'k'), result: false, again: false },
  },
};

/** What readers see, and what is known of what is gone. */
async function state() {
  const store = storeOver();
  const { items } = await store.list(scope, 'message', { order: 'asc', limit: 10 });
  return {
    messages: items.map(({ id, at, dump }) => [id, at, Buffer.from(dump.data).toString('base64')]),
    values: (await store.listValues(user, { limit: 50 })).items.map(({ key }) => key),
    forgotten: await store.forgottenAmong(scope, ['small', 'large']),
  };
}
/** Chunk rows, and items of records that are there in part. */
async function leftOver() {
  const rows = await table.rows();
  return {
    chunkRows: rows.filter(({ owner, body }) => owner !== undefined && body !== undefined).length,
    inLimbo: rows.filter(({ place, dead }) => place?.S?.startsWith('limbo/') || dead !== undefined).length,
  };
}
async function inNewSession<T>(prepared: Call['prepare'], work: () => Promise<T>) {
  await table.reset([]);
  await prepared?.(storeOver());
  return { outcome: await work(), state: await state() };
}

for (const [name, { prepare: prepared, call, result, again }] of Object.entries(calls)) {
  test(`${name}: done once where the answer to any write of it is lost, and it is sent again`, async () => {
    const undisturbed = await inNewSession(prepared, () => call(storeOver()));
    const left = await leftOver();
    expect(undisturbed.outcome).toEqual(result);

    for (let at = 0, reached = true; reached; at++) {
      const disturbed = await inNewSession(prepared, async () => {
        const { client, wasReached } = interruptedClient(
          table.client,
          at,
          'delivered twice',
          async () => {},
          {
            counts: isWrite,
          },
        );
        const outcome = await call(storeOver(client));
        reached = wasReached();
        return outcome;
      });
      expect(disturbed, `write ${at}`).toEqual(undisturbed);
      expect(await leftOver(), `write ${at}`).toEqual(left);
    }
  });

  test(`${name}: where a write fails it says so, is done when it is called again, and leaves no row that a forget does not find`, async () => {
    const undisturbed = await inNewSession(prepared, () => call(storeOver()));

    for (let at = 0, reached = true; reached; at++) {
      const repeated = await inNewSession(prepared, async () => {
        let written = -1;
        const { client } = clientWithFate(table.client, (_index, command) => {
          if (isWrite(command)) written++;
          return written === at && isWrite(command) ? { applied: false, error: throttled } : 'pass';
        });
        const outcome: unknown = await call(storeOver(client)).catch(({ code }) => code);
        reached = written >= at;
        expect([reached ? 'unavailable' : result], `write ${at}`).toContainEqual(outcome);
        return call(storeOver());
      });
      expect(repeated.state, `write ${at}`).toEqual(undisturbed.state);
      if (!reached) expect(repeated.outcome).toEqual(again);
      await storeOver().forgetScope(scope);
      expect(await leftOver(), `write ${at}`).toEqual({ chunkRows: 0, inLimbo: 0 });
      expect(await append(storeOver(), { small: 1, large }), `write ${at}`).toEqual([true, true]);
    }
  });
}
