import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { dynamoDbStore } from '../../../../lib/dynamodb/dynamodb-store.ts';
import { UnavailableError } from '../../../../lib/errors.ts';
import { unpackState } from '../../../../lib/persistence/pack.ts';
import type { SnapshotCatalog } from '../../../../lib/persistence/snapshot-store.ts';
import { bytesDump } from '../../../contracts/snapshot-store-contract.ts';
import { type EmbeddedTable, embeddedTable } from '../../../support/embedded-table.ts';
import { leftByTtl } from '../../../support/left-by-ttl.ts';
import { atEveryWrite, dyingClient } from '../../../support/process-death.ts';
import { randomBytesOf, sha256 } from '../../../support/random-bytes.ts';
import { type TestClock, testClock } from '../../../support/test-clock.ts';

const small = randomBytesOf(100, 'small');
const before = randomBytesOf(5_000, 'before');
const after = randomBytesOf(7_000, 'after');

describe('a process that dies during a call', () => {
  let table: EmbeddedTable;
  let clock: TestClock;
  let keys = 0;
  let key: string;
  let healthy: SnapshotCatalog;

  beforeAll(async () => {
    table = await embeddedTable();
  });
  afterAll(() => table.close());
  beforeEach(() => {
    clock = testClock();
    key = `agent/${++keys}`;
    healthy = storeOver(table.client);
  });

  // Small chunks, so that a few kilobytes are many of them.
  const storeOver = (client: EmbeddedTable['client']) =>
    dynamoDbStore({
      client,
      tableName: table.tableName,
      clock: clock.now,
      inlineMaxBytes: 1_000,
      chunkMaxBytes: 2_000,
    });

  const read = async () => {
    const snapshot = await healthy.get(key);
    return snapshot && sha256(await unpackState(snapshot.dump));
  };
  const rows = async () =>
    leftByTtl(await table.rows(), clock.now()).filter(
      (row) => row.owner?.S === key || row.sk?.S === `key/${keys}`,
    ).length;

  const setUps = { nothing: undefined, 'an inline snapshot': small, 'a chunked snapshot': before };
  const follows: Record<string, { act: () => Promise<unknown>; rows: number }> = {
    overwritten: { act: async () => healthy.put(key, await bytesDump(small)), rows: 1 },
    forgotten: { act: () => healthy.delete(key), rows: 0 },
  };

  /** Runs the call over what was there first, in a process that dies at its first write, its second, and so on. */
  const killedAtEveryWrite = (
    first: Uint8Array | undefined,
    call: (store: SnapshotCatalog) => Promise<unknown>,
    check: (acknowledged: boolean) => Promise<void>,
  ) =>
    atEveryWrite(table.client, {
      async prepare() {
        key = `agent/${++keys}`;
        if (first) await healthy.put(key, await bytesDump(first));
      },
      call: (client) => call(storeOver(client)),
      check,
    });

  for (const [there, first] of Object.entries(setUps)) {
    for (const [then, follow] of Object.entries(follows)) {
      test(`a chunked put over ${there}, killed at each write: whole before, whole after, nothing left once ${then}`, async () => {
        const dump = await bytesDump(after);
        const seen = new Set<string | undefined>();

        const deaths = await killedAtEveryWrite(
          first,
          (store) => store.put(key, dump),
          async (acknowledged) => {
            const stored = await read();
            expect([first && sha256(first), sha256(after)]).toContain(stored);
            if (acknowledged) expect(stored).toBe(sha256(after));
            seen.add(stored);

            clock.advanceSecs(16 * 60);
            await follow.act();

            expect(await read()).toBe(then === 'forgotten' ? undefined : sha256(small));
            expect(await rows()).toBe(follow.rows);
          },
        );

        expect(deaths).toBeGreaterThanOrEqual(10);
        expect(seen.size).toBe(2);
      });
    }
  }

  test('a forget killed at each write leaves the snapshot whole or nothing, and repeating it finishes', async () => {
    const deaths = await killedAtEveryWrite(
      before,
      (store) => store.delete(key),
      async (acknowledged) => {
        const stored = await read();
        expect([undefined, sha256(before)]).toContain(stored);
        if (acknowledged) expect(stored).toBeUndefined();

        await healthy.delete(key);

        expect(await read()).toBeUndefined();
        expect(await rows()).toBe(0);
      },
    );

    expect(deaths).toBeGreaterThanOrEqual(10);
  });

  test('a forget takes what a writer left that died a moment ago', async () => {
    const store = storeOver(dyingClient(table.client, 3, true).client);
    await expect(store.put(key, await bytesDump(after))).rejects.toThrow(UnavailableError);
    expect(await rows()).toBeGreaterThan(1);

    await healthy.delete(key);

    expect(await rows()).toBe(0);
  });

  test('another writer leaves alone what a writer at work has written so far', async () => {
    const store = storeOver(dyingClient(table.client, 3, true).client);
    await expect(store.put(key, await bytesDump(after))).rejects.toThrow(UnavailableError);
    const left = await rows();

    await healthy.put(key, await bytesDump(small));

    expect(await rows()).toBe(left);
    expect(await read()).toBe(sha256(small));
  });

  test('a writer whose chunk rows a forget took starts over, and is stored after it', async () => {
    let forgotten = false;
    const racing = {
      send: async (command: { constructor: { name: string }; input: { UpdateExpression?: string } }) => {
        const isCommit = command.input.UpdateExpression?.startsWith('SET etag') === true;
        if (isCommit && !forgotten) {
          forgotten = true;
          await healthy.delete(key);
        }
        return table.client.send(command as never);
      },
    } as unknown as EmbeddedTable['client'];

    const receipt = await storeOver(racing).put(key, await bytesDump(after));

    expect(forgotten).toBe(true);
    expect(await healthy.head(key)).toMatchObject({ etag: receipt.etag });
    expect(await read()).toBe(sha256(after));
    expect(await rows()).toBe(1 + Math.ceil(after.length / 2_000));
  });
});
