import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { dynamoDbStore } from '../../../../lib/dynamodb/dynamodb-store.ts';
import { unpackState } from '../../../../lib/persistence/pack.ts';
import type { SnapshotCatalog } from '../../../../lib/persistence/snapshot-store.ts';
import { bytesDump, textDump } from '../../../contracts/snapshot-store-contract.ts';
import { type EmbeddedTable, embeddedTable } from '../../../support/embedded-table.ts';
import { leftByTtl } from '../../../support/left-by-ttl.ts';
import { randomBytesOf, sha256 } from '../../../support/random-bytes.ts';
import { type TestClock, testClock } from '../../../support/test-clock.ts';

interface Command {
  readonly constructor: { readonly name: string };
  readonly input: { readonly UpdateExpression?: string; readonly ConditionExpression?: string };
}

const large = randomBytesOf(500_000, 'large');

describe('writers that meet at the worst moment', () => {
  let table: EmbeddedTable;
  let clock: TestClock;
  let healthy: SnapshotCatalog;
  let keys = 0;
  let key: string;

  beforeAll(async () => {
    table = await embeddedTable();
  });
  afterAll(() => table.close());
  beforeEach(() => {
    clock = testClock();
    key = `agent/${++keys}`;
    healthy = storeOver(table.client);
  });

  const storeOver = (client: EmbeddedTable['client']) =>
    dynamoDbStore({ client, tableName: table.tableName, clock: clock.now });

  /** A store in whose requests a test may interfere: before the first that matches, after it, or in its place. */
  const interfering = (
    matches: (command: Command) => boolean,
    interfere: (send: () => Promise<unknown>) => Promise<unknown>,
    saw: (command: Command) => void = () => {},
  ) => {
    let done = false;
    const send = (command: Command) => {
      const pass = () => table.client.send(command as never) as Promise<unknown>;
      if (done || !matches(command)) return pass();
      done = true;
      saw(command);
      return interfere(pass);
    };
    return storeOver({ send } as unknown as EmbeddedTable['client']);
  };
  const starts = (expression: string) => (command: Command) =>
    command.input.UpdateExpression?.startsWith(expression) === true;
  const read = async () => {
    const snapshot = await healthy.get(key);
    return snapshot && sha256(await unpackState(snapshot.dump));
  };
  const rows = async () =>
    leftByTtl(await table.rows(), clock.now()).filter(
      (row) => row.owner?.S === key || row.sk?.S === `key/${keys}`,
    ).length;

  test('a sweep never takes the rows of a slow writer that has committed after all', async () => {
    const slow = interfering(starts('SET etag'), async (commit) => {
      clock.advanceSecs(16 * 60);
      const sweeping = interfering(starts('ADD dead'), async (claim) => {
        await commit();
        return claim();
      });
      await sweeping.put(key, await textDump('between'));
      return {};
    });

    await slow.put(key, await bytesDump(large));

    expect(await read()).toBe(sha256(large));
  });

  test('an announcement that arrives again does not bring back rows that a forget is deleting', async () => {
    await healthy.put(key, await textDump('before'));
    const announcing = interfering(starts('ADD sets'), async (announce) => {
      await announce();
      const forgetting = interfering(starts('DELETE dead'), async (finish) => {
        // The retry comes while the forget is about to finish.
        await announce().catch(() => {});
        return finish();
      });
      await forgetting.delete(key);
      return announce();
    });

    const receipt = await announcing.put(key, await bytesDump(large));

    expect(await healthy.head(key)).toMatchObject({ etag: receipt.etag });
    expect(await read()).toBe(sha256(large));
  });

  test('a conditional delete whose answer was lost is a success, with chunk rows too', async () => {
    const { etag } = await healthy.put(key, await bytesDump(large));
    const losing = interfering(starts('SET gone'), async (send) => {
      await send();
      return send().catch((error: Error) => {
        throw Object.assign(error, { $metadata: { attempts: 2 } });
      });
    });

    await losing.delete(key, { ifMatch: [etag] });

    expect(await read()).toBeUndefined();
    expect(await rows()).toBe(0);
  });

  test('a conditional delete that meets a sweep deletes once, says so, and leaves no row', async () => {
    await healthy.put(key, await bytesDump(large));
    let deleted: Promise<void> | undefined;
    const replacing = interfering(starts('ADD dead'), async (claim) => {
      const { etag = '' } = (await healthy.head(key)) ?? {};
      const deleting = interfering(
        ({ constructor: { name } }) => name === 'GetItemCommand',
        async (readHead) => {
          await claim();
          await finishSweep();
          return readHead();
        },
      );
      deleted = deleting.delete(key, { ifMatch: [etag] });
      await deleted;
      return {};
    });
    /** What the sweep has still to do, done by another who comes by. */
    const finishSweep = async () => {
      const dead = (await table.rows()).find((row) => row.sk?.S === `key/${keys}`)?.dead?.SS ?? [];
      expect(dead).toHaveLength(1);
    };

    await replacing.put(key, await textDump('small'));

    await expect(deleted).resolves.toBeUndefined();
    expect(await read()).toBeUndefined();
    expect(await rows()).toBe(0);
  });

  test.each(['forgotten', 'overwritten', 'forgotten while it is written'])(
    'a chunk row whose first request arrives late, after the snapshot was %s, leaves nothing',
    async (what) => {
      let late: Command | undefined;
      const slow = interfering(
        ({ constructor: { name } }) => name === 'PutItemCommand',
        async (send) => {
          if (what === 'forgotten while it is written') await healthy.delete(key);
          return { ...((await send()) as object), $metadata: { attempts: 2 } };
        },
        (command) => {
          late ??= command;
        },
      );
      await slow.put(key, await bytesDump(large));
      if (what === 'overwritten') await healthy.put(key, await textDump('newer'));
      await healthy.delete(key);

      await expect(table.client.send(late as never)).rejects.toThrow('conditional');

      expect(await read()).toBeUndefined();
      expect(await rows()).toBe(0);
    },
  );
});
