import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { dynamoDbStore } from '../../../lib/dynamodb/dynamodb-store.ts';
import { dynamoDbCounters } from '../../../lib/dynamodb/sessions/counters.ts';
import { ConflictError } from '../../../lib/errors.ts';
import { bytesDump, textDump } from '../../contracts/snapshot-store-contract.ts';
import { type EmbeddedTable, embeddedTable } from '../../support/embedded-table.ts';
import { sdkError } from '../../support/failing-client.ts';
import { randomBytesOf } from '../../support/random-bytes.ts';

type Command = { constructor: { name: string }; input: { UpdateExpression?: string } };

describe('a write whose answer was lost', () => {
  let table: EmbeddedTable;
  let keys = 0;
  let key: string;

  beforeAll(async () => {
    table = await embeddedTable();
  });
  afterAll(() => table.close());
  beforeEach(() => {
    key = `agent/${++keys}`;
  });

  const storeOver = (client: EmbeddedTable['client']) =>
    dynamoDbStore({ client, tableName: table.tableName });

  /**
   * As the SDK does it: the request is applied, its answer is lost, and the same request is sent again.
   * `meanwhile` happens between the two.
   */
  const losingFirstAnswer = (
    matches: (command: Command) => boolean,
    meanwhile: () => Promise<unknown> = async () => {},
  ) => {
    let lost = false;
    const send = async (command: Command) => {
      if (!lost && matches(command)) {
        lost = true;
        await table.client.send(command as never);
        await meanwhile();
        return table.client.send(command as never).catch((error: Error) => {
          throw Object.assign(error, { $metadata: { attempts: 2 } });
        });
      }
      return table.client.send(command as never);
    };
    return storeOver({ send } as unknown as EmbeddedTable['client']);
  };
  const isCommit = ({ input }: Command) => input.UpdateExpression?.startsWith('SET etag') === true;
  const dumps = {
    small: () => textDump('mine'),
    chunked: () => bytesDump(randomBytesOf(500_000, 'mine')),
  };

  for (const [size, makeDump] of Object.entries(dumps)) {
    test(`a ${size} first write is a success, not a conflict with itself`, async () => {
      const receipt = await losingFirstAnswer(isCommit).put(key, await makeDump(), { ifNoneMatch: '*' });

      expect(receipt).toMatchObject({ version: 1, created: true });
      expect(await storeOver(table.client).head(key)).toMatchObject({ etag: receipt.etag, version: 1 });
    });

    test(`a ${size} conditional overwrite is a success, counted once`, async () => {
      const first = await storeOver(table.client).put(key, await makeDump());
      const receipt = await losingFirstAnswer(isCommit).put(key, await makeDump(), { ifMatch: [first.etag] });

      expect(receipt).toMatchObject({ version: 2, created: false });
      expect(await storeOver(table.client).head(key)).toMatchObject({ etag: receipt.etag, version: 2 });
    });

    test(`a ${size} write that was replaced before its retry does not come back over the newer one`, async () => {
      let newer = '';
      const store = losingFirstAnswer(isCommit, async () => {
        newer = (await storeOver(table.client).put(key, await textDump('newer'))).etag;
      });

      expect(await store.put(key, await makeDump())).toMatchObject({ version: 1 });
      expect(await storeOver(table.client).head(key)).toMatchObject({ etag: newer, version: 2 });
    });
  }

  test('every answer to a chunked commit is lost: the snapshot stays, and the caller learns that it is stored', async () => {
    let commits = 0;
    const send = async (command: Command) => {
      if (!isCommit(command) || ++commits > 1) return table.client.send(command as never);
      await table.client.send(command as never);
      throw sdkError('TimeoutError', 4);
    };
    const store = storeOver({ send } as unknown as EmbeddedTable['client']);

    const receipt = await store.put(key, await dumps.chunked());

    expect(await storeOver(table.client).get(key)).toMatchObject({ etag: receipt.etag, bytes: 500_000 });
  });

  test('a conflict with somebody else stays a conflict', async () => {
    const theirs = await storeOver(table.client).put(key, await textDump('theirs'));
    const send = async (command: Command) => {
      if (isCommit(command)) throw sdkError('ConditionalCheckFailedException', 2);
      return table.client.send(command as never);
    };

    const put = storeOver({ send } as unknown as EmbeddedTable['client']).put(key, await textDump('mine'), {
      ifNoneMatch: '*',
    });

    await expect(put).rejects.toEqual(new ConflictError(theirs.etag));
  });

  test('a conditional delete is a success', async () => {
    const { etag } = await storeOver(table.client).put(key, await textDump('mine'));
    const isForget = ({ input }: Command) => input.UpdateExpression?.startsWith('SET gone') === true;

    await losingFirstAnswer(isForget).delete(key, { ifMatch: [etag] });

    expect(await storeOver(table.client).head(key)).toBeUndefined();
  });

  /** What others do, acknowledged, between a write and the retry of its request. */
  const others = async (writers: number, then: 'stays' | 'forgotten' | 'created again') => {
    for (let writer = 0; writer < writers; writer++) {
      await storeOver(table.client).put(key, await textDump(`theirs ${writer}`));
    }
    if (then !== 'stays') await storeOver(table.client).delete(key);
    if (then === 'created again') {
      await storeOver(table.client).put(key, await textDump('new'), { ifNoneMatch: '*' });
    }
    return storeOver(table.client).head(key);
  };
  const isForgetting = ({ input }: Command) => input.UpdateExpression?.startsWith('SET gone') === true;

  for (const writers of [1, 2, 5, 20]) {
    for (const then of ['stays', 'forgotten', 'created again'] as const) {
      test.each([
        ['put', false],
        ['conditional put', true],
        ['forget', false],
        ['conditional forget', true],
      ])(
        `with ${writers} writers on top, whose last write ${then}: a %s is a success, once`,
        async (what, isConditional) => {
          const { etag } = await storeOver(table.client).put(key, await textDump('first'));
          const condition = isConditional ? { ifMatch: [etag] } : {};
          let theirs: Awaited<ReturnType<typeof others>>;
          const meanwhile = async () => {
            theirs = await others(writers, then);
          };

          if (what.endsWith('put')) {
            const store = losingFirstAnswer(isCommit, meanwhile);
            expect(await store.put(key, await textDump('mine'), condition)).toMatchObject({ version: 2 });
          } else {
            await losingFirstAnswer(isForgetting, meanwhile).delete(key, condition);
          }

          expect(await storeOver(table.client).head(key)).toEqual(theirs);
        },
      );
    }
  }

  test('a conditional forget over nothing is a conflict, also after a try that never applied', async () => {
    const send = async (command: Command) => {
      if (!isForgetting(command)) return table.client.send(command as never);
      throw sdkError('ConditionalCheckFailedException', 2);
    };

    const forget = storeOver({ send } as never).delete(key, { ifMatch: ['gone'] });

    await expect(forget).rejects.toEqual(new ConflictError(undefined));
  });

  test('a request that arrives after its caller was told of a conflict changes nothing', async () => {
    const theirs = await storeOver(table.client).put(key, await textDump('theirs'));
    let late: Command | undefined;
    const send = async (command: Command) => {
      if (!isCommit(command)) return table.client.send(command as never);
      late = command;
      throw sdkError('ConditionalCheckFailedException', 2);
    };
    const create = storeOver({ send } as never).put(key, await textDump('mine'), { ifNoneMatch: '*' });
    await expect(create).rejects.toEqual(new ConflictError(theirs.etag));
    await storeOver(table.client).delete(key);

    await expect(table.client.send(late as never)).rejects.toThrow();

    expect(await storeOver(table.client).head(key)).toBeUndefined();
  });

  test('an addition to a counter counts once, and resolves its own sum', async () => {
    const counters = dynamoDbCounters(table.client, table.tableName);
    await counters.bump('agent', key, 1);
    const send = async (command: Command) => {
      await table.client.send(command as never);
      await counters.bump('agent', key, 10);
      return table.client.send(command as never).catch((error: Error) => {
        throw Object.assign(error, { $metadata: { attempts: 2 } });
      });
    };
    let first = true;
    const losing = {
      send: (command: Command) => {
        const lose = first;
        first = false;
        return lose ? send(command) : table.client.send(command as never);
      },
    };

    expect(await dynamoDbCounters(losing as never, table.tableName).bump('agent', key, 2)).toBe(3);
    expect(await counters.get('agent', key)).toBe(13);
  });
});
