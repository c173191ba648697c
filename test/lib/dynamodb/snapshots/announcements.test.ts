import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { raceAttempts } from '../../../../lib/defaults.ts';
import { dynamoDbStore } from '../../../../lib/dynamodb/dynamodb-store.ts';
import { ConflictError } from '../../../../lib/errors.ts';
import type { SnapshotCatalog } from '../../../../lib/persistence/snapshot-store.ts';
import { bytesDump, textDump } from '../../../contracts/snapshot-store-contract.ts';
import { type EmbeddedTable, embeddedTable } from '../../../support/embedded-table.ts';
import { sdkError } from '../../../support/failing-client.ts';
import { leftByTtl } from '../../../support/left-by-ttl.ts';
import { randomBytesOf } from '../../../support/random-bytes.ts';
import { type TestClock, testClock } from '../../../support/test-clock.ts';

/* A large snapshot is announced before its rows are written: what becomes of a write whose announcement goes wrong. */

type Send = () => Promise<unknown>;

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

const storeOver = (client: DynamoDBClient) =>
  dynamoDbStore({ client, tableName: table.tableName, clock: clock.now });
interface Command {
  readonly constructor: { readonly name: string };
  readonly input: { readonly UpdateExpression?: string };
}
const isAnnouncement = ({ input }: Command) => /^ADD #sets :\w+ SET/.test(input.UpdateExpression ?? '');
/** A store whose first announcement is answered by `answer`, and the names of all that it sent. */
const announcing = (answer: (send: Send) => Promise<unknown>) => {
  const sent: string[] = [];
  let announced = 0;
  const send = (command: Command) => {
    sent.push(command.constructor.name);
    const pass = () => table.client.send(command as never) as Promise<unknown>;
    return isAnnouncement(command) && ++announced === 1 ? answer(pass) : pass();
  };
  return { store: storeOver({ send } as unknown as DynamoDBClient), sent, announced: () => announced };
};
const large = () => bytesDump(randomBytesOf(500_000, 'large'));
/** As the SDK tells of a request that it had to send twice. */
const refusedAgain = () => Promise.reject(sdkError('ConditionalCheckFailedException', 2));
const chunkRows = async () =>
  leftByTtl(await table.rows(), clock.now()).filter(({ owner }) => owner?.S === key).length;

test('one that was applied and whose answer was lost is one: the write goes on', async () => {
  const { store, announced } = announcing(async (send) => {
    await send();
    return refusedAgain();
  });

  const receipt = await store.put(key, await large(), { ifNoneMatch: '*' });

  expect(announced()).toBe(1);
  expect(receipt).toMatchObject({ version: 1, created: true });
  expect(await healthy.head(key)).toMatchObject({ etag: receipt.etag });
});

test('one whose rows somebody claimed before its answer came starts over before it writes one', async () => {
  const { store, sent, announced } = announcing(async (send) => {
    await send();
    await healthy.delete(key);
    return refusedAgain();
  });

  const receipt = await store.put(key, await large());

  expect(await healthy.get(key)).toMatchObject({ etag: receipt.etag, bytes: 500_000 });
  expect(announced()).toBe(2);
  expect(sent.filter((name) => name === 'PutItemCommand')).toHaveLength(await chunkRows());
  await healthy.delete(key);
  expect(await chunkRows()).toBe(0);
});

test('one whose rows are claimed each time before its answer comes gives up', async () => {
  let announcements = 0;
  const send = async (command: Command) => {
    const answer = await table.client.send(command as never);
    if (!isAnnouncement(command)) return answer;
    announcements++;
    await healthy.delete(key);
    return refusedAgain();
  };

  const put = storeOver({ send } as unknown as DynamoDBClient).put(key, await large());

  await expect(put).rejects.toMatchObject({ code: 'unavailable' });
  expect(announcements).toBe(raceAttempts);
});

test('a precondition that fails is a conflict before a row is written', async () => {
  const theirs = await healthy.put(key, await textDump('theirs'));
  const { store, sent } = announcing((send) => send());

  for (const options of [{ ifNoneMatch: '*' }, { ifMatch: ['other'] }] as const)
    await expect(store.put(key, await large(), options)).rejects.toEqual(new ConflictError(theirs.etag));
  expect(await healthy.head(key)).toMatchObject({ etag: theirs.etag });
  await healthy.delete(key);
  await expect(store.put(key, await large(), { ifMatch: '*' })).rejects.toEqual(new ConflictError(undefined));

  expect(sent).not.toContain('PutItemCommand');
  expect(await healthy.head(key)).toBeUndefined();
});

test('a conflict of one that may still arrive keeps it out: it names no rows afterwards', async () => {
  const theirs = await healthy.put(key, await textDump('theirs'));
  let late: Send = () => Promise.reject(new Error('nothing was sent'));
  const { store } = announcing((send) => {
    late = send;
    return refusedAgain();
  });
  await expect(store.put(key, await large(), { ifNoneMatch: '*' })).rejects.toEqual(
    new ConflictError(theirs.etag),
  );
  await healthy.delete(key);

  await expect(late()).rejects.toThrow();

  expect((await table.rows()).find(({ sk }) => sk?.S === `key/${keys}`)).not.toHaveProperty('sets');
});

test('an expired snapshot is as none: it is replaced, as a first version', async () => {
  await healthy.put(key, await textDump('old'), { expiresAt: new Date(clock.now().getTime() + 1_000) });
  clock.advanceSecs(2);

  expect(await healthy.put(key, await large(), { ifNoneMatch: '*' })).toMatchObject({
    ...{ version: 1, created: true },
  });
});

test('one that fails otherwise is no conflict, and leaves no row', async () => {
  const { store, sent } = announcing(() => Promise.reject(sdkError('TimeoutError')));

  await expect(store.put(key, await large())).rejects.toMatchObject({ code: 'unavailable' });

  expect(sent).not.toContain('PutItemCommand');
  expect(await chunkRows()).toBe(0);
});

test('one that is refused for no reason that is found is tried again, a bounded number of times', async () => {
  let announcements = 0;
  const send = (command: Command) => {
    if (!isAnnouncement(command)) return table.client.send(command as never);
    announcements++;
    return Promise.reject(sdkError('ConditionalCheckFailedException'));
  };

  const put = storeOver({ send } as unknown as DynamoDBClient).put(key, await large());

  await expect(put).rejects.toMatchObject({ code: 'unavailable' });
  expect(announcements).toBe(raceAttempts);
});

test('a row that arrives after its write has failed is kept out', async () => {
  const late: Send[] = [];
  const send = (command: Command) => {
    const pass = () => table.client.send(command as never) as Promise<unknown>;
    if (command.constructor.name !== 'PutItemCommand') return pass();
    late.push(pass);
    return Promise.reject(sdkError('TimeoutError', 3));
  };
  const put = storeOver({ send } as unknown as DynamoDBClient).put(key, await large());
  await expect(put).rejects.toMatchObject({ code: 'unavailable' });

  for (const arrive of late)
    await expect(arrive()).rejects.toMatchObject({ name: 'ConditionalCheckFailedException' });

  expect(late.length).toBeGreaterThan(0);
  expect(await chunkRows()).toBe(0);
});

test('one whose rows take long to write is not taken for abandoned by its own writer, who removes what it replaces', async () => {
  await healthy.put(key, await large());
  clock.advanceSecs(3_600);
  const send = (command: Command) => {
    if (command.constructor.name === 'PutItemCommand') clock.advanceSecs(1_000);
    return table.client.send(command as never);
  };

  const receipt = await storeOver({ send } as unknown as DynamoDBClient).put(key, await large());

  expect(await healthy.get(key)).toMatchObject({ etag: receipt.etag, bytes: 500_000 });
  expect(await chunkRows()).toBe(2);
});
