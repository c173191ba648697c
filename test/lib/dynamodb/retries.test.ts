import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { dynamoDbStore } from '../../../lib/dynamodb/dynamodb-store.ts';
import { ConflictError } from '../../../lib/persistence/persistence-error.ts';
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
});
