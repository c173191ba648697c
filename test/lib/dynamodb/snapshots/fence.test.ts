import {
  type AttributeValue,
  type DynamoDBClient,
  PutItemCommand,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { abandonedAfterMs } from '../../../../lib/defaults.ts';
import { dynamoDbStore } from '../../../../lib/dynamodb/dynamodb-store.ts';
import { ttlAfter, ttlOf } from '../../../../lib/dynamodb/ttl.ts';
import { ConflictError } from '../../../../lib/errors.ts';
import type { SnapshotCatalog } from '../../../../lib/persistence/snapshot-store.ts';
import { bytesDump, textDump } from '../../../contracts/snapshot-store-contract.ts';
import { type EmbeddedTable, embeddedTable } from '../../../support/embedded-table.ts';
import { clientWithFate, type Fate, sdkError } from '../../../support/failing-client.ts';
import { interruptedClient } from '../../../support/pausing-client.ts';
import { randomBytesOf } from '../../../support/random-bytes.ts';
import { type TestClock, testClock } from '../../../support/test-clock.ts';

interface Sent {
  readonly name: string;
  readonly input: unknown;
}

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
const headRow = async (): Promise<Record<string, AttributeValue> | undefined> =>
  (await table.rows()).find(({ sk }) => sk?.S === `key/${keys}`);
const expression = ({ input }: Sent) => (input as { UpdateExpression?: string }).UpdateExpression ?? '';
/** What is sent for a write, and by whom it is told apart: a fence sets nothing but a lane, and over nothing a tombstone. */
const isCommit = (sent: Sent) => expression(sent).startsWith('SET etag');
const isForget = (sent: Sent) => / REMOVE etag/.test(expression(sent));
const isTombstoneOnly = (sent: Sent) => /^SET gone = :\w+, #\w+ = :\w+$/.test(expression(sent));
const isFence = (sent: Sent) => /^SET w_\w+ = :\w+(, gone|$)/.test(expression(sent));

/** A store whose first request that matches is lost, as often as the SDK tries, and may still arrive. */
const losing = (
  matches: (sent: Sent) => boolean,
  onOthers: (sent: Sent) => Fate | Promise<Fate> = () => 'pass',
) => {
  const sent: Sent[] = [];
  let late: unknown;
  const send = async (command: { constructor: { name: string }; input: unknown }) => {
    const request = { name: command.constructor.name, input: command.input };
    sent.push(request);
    if (late === undefined && matches(request)) {
      late = command;
      // Nothing was applied, and a try before this one had no answer.
      throw sdkError('ConditionalCheckFailedException', 2);
    }
    const fate = await onOthers(request);
    if (fate === 'pass') return table.client.send(command as never);
    if (fate.applied) await table.client.send(command as never);
    throw fate.error;
  };
  const arriveLate = () => table.client.send(late as never);
  return { store: storeOver({ send } as unknown as DynamoDBClient), sent, arriveLate };
};
const refusedCreate = (store: SnapshotCatalog) =>
  textDump('mine').then((dump) => store.put(key, dump, { ifNoneMatch: '*' }));
const refusedForget = (store: SnapshotCatalog) => store.delete(key, { ifMatch: ['other'] });

const inOneHour = () => ({ expiresAt: new Date(clock.now().getTime() + 3_600_000) });
/** As another writer announces its rows, or another remover is at work on some. Resolves their set. */
const nameOthers = async (attribute: 'sets' | 'dead' = 'sets') => {
  const { pk = { S: '' }, sk = { S: '' } } = (await headRow()) ?? {};
  const theirs = `0123456789abcdef.2.${clock.now().getTime()}`;
  await table.client.send(
    new UpdateItemCommand({
      TableName: table.tableName,
      Key: { pk, sk },
      UpdateExpression: 'ADD #named :sets REMOVE #ttl',
      ExpressionAttributeNames: { '#named': attribute, '#ttl': 'ttl' },
      ExpressionAttributeValues: { ':sets': { SS: [theirs] } },
    }),
  );
  return theirs;
};

describe('a conflict', () => {
  test('of a write that was answered at once needs no fence', async () => {
    const theirs = await healthy.put(key, await textDump('theirs'));
    const { client, sent } = clientWithFate(table.client, () => 'pass');

    await expect(refusedCreate(storeOver(client))).rejects.toEqual(new ConflictError(theirs.etag));
    await expect(refusedForget(storeOver(client))).rejects.toEqual(new ConflictError(theirs.etag));

    expect(sent.filter(isFence)).toEqual([]);
  });

  test('with what is stored, of a write that may still arrive, takes the lane, and changes nothing else', async () => {
    await healthy.put(key, await textDump('theirs'));
    const before = await headRow();
    const { store, sent, arriveLate } = losing(isCommit);

    await expect(refusedCreate(store)).rejects.toMatchObject({ code: 'conflict' });

    expect(sent.filter(isFence)).toHaveLength(1);
    const after = await headRow();
    expect(after).toMatchObject(before ?? {});
    expect(Object.keys(after ?? {}).length).toBe(Object.keys(before ?? {}).length + 1);
    await healthy.delete(key);
    await expect(arriveLate()).rejects.toThrow();
    expect(await healthy.head(key)).toBeUndefined();
  });

  test('over nothing leaves a tombstone, which keeps the write out and expires', async () => {
    await healthy.put(key, await textDump('theirs'));
    const { store, arriveLate } = losing(isForget);
    await healthy.delete(key);
    const bare = await headRow();

    await expect(refusedForget(store)).rejects.toEqual(new ConflictError(undefined));

    expect(bare).toBeUndefined();
    const tombstone = await headRow();
    expect(tombstone).toMatchObject({ gone: { S: expect.any(String) } });
    expect(tombstone?.ttl).toEqual({ N: String(ttlAfter(clock.now())) });
    await expect(arriveLate()).rejects.toThrow();
    expect(await healthy.head(key)).toBeUndefined();
  });

  test('over nothing but rows that are being removed takes the lane, and leaves them named', async () => {
    await healthy.put(key, await textDump('old'));
    const { pk = { S: '' }, sk = { S: '' } } = (await headRow()) ?? {};
    const dead = { SS: ['E.1.1'] };
    await table.client.send(new PutItemCommand({ TableName: table.tableName, Item: { pk, sk, dead } }));
    const { store, sent } = losing(isForget);

    await expect(refusedForget(store)).rejects.toEqual(new ConflictError(undefined));

    expect(sent.filter(isFence)).toHaveLength(1);
    expect(await headRow()).toMatchObject({ dead });
  });

  test.each([
    ['with what is stored', isCommit, refusedCreate],
    ['over nothing', isForget, refusedForget],
  ])('%s whose fence was applied and had no answer is told once', async (what, matches, refused) => {
    const theirs = what === 'over nothing' ? undefined : await healthy.put(key, await textDump('theirs'));
    const { store, sent } = losing(matches, (request) =>
      isFence(request) ? { applied: true, error: sdkError('ConditionalCheckFailedException', 2) } : 'pass',
    );

    await expect(refused(store)).rejects.toEqual(new ConflictError(theirs?.etag));

    expect(sent.filter(isFence)).toHaveLength(1);
  });

  test('that is none any more when the fence comes is looked at again', async () => {
    let theirs = '';
    const { store, sent } = losing(isForget, async (request): Promise<Fate> => {
      if (isFence(request) && theirs === '') theirs = (await healthy.put(key, await textDump('new'))).etag;
      return 'pass';
    });

    await expect(refusedForget(store)).rejects.toSatisfy(({ currentEtag }) => currentEtag === theirs);

    expect(sent.filter(isFence)).toHaveLength(2);
    expect(await healthy.head(key)).toMatchObject({ etag: theirs });
  });

  test('whose fence fails otherwise is none: nobody knows whether the write still arrives', async () => {
    await healthy.put(key, await textDump('theirs'));
    const { store, sent } = losing(isCommit, (request) =>
      isFence(request) ? { applied: false, error: sdkError('TimeoutError') } : 'pass',
    );

    await expect(refusedCreate(store)).rejects.toMatchObject({ code: 'unavailable' });

    expect(sent.filter(isFence)).toHaveLength(1);
  });
});

describe('a forget', () => {
  test('of nothing, by one who has no request under way, writes nothing that stays', async () => {
    const { client, sent } = clientWithFate(table.client, () => 'pass');
    await storeOver(client).delete(key);

    expect(await headRow()).toBeUndefined();
    expect(sent.map(({ name }) => name)).toEqual(['UpdateItemCommand', 'GetItemCommand']);
  });

  test('of what was forgotten leaves the tombstone as it is', async () => {
    await healthy.put(key, await textDump('theirs'));
    await storeOver(table.client).delete(key);
    const tombstone = await headRow();
    clock.advanceSecs(10);
    const { client, sent } = clientWithFate(table.client, () => 'pass');

    await storeOver(client).delete(key);

    expect(tombstone).toHaveProperty('gone');
    expect(await headRow()).toEqual(tombstone);
    expect(sent.map(({ name }) => name)).toEqual(['UpdateItemCommand', 'GetItemCommand']);
  });

  /** The update that makes a tombstone of a head that was read: only it names rows to remove. */
  const isOfLarge = (sent: Sent) => isForget(sent) && expression(sent).includes('ADD dead');

  test('of a large snapshot, by its ETag, that somebody replaces meanwhile is a conflict, and what replaced it stays', async () => {
    const { etag } = await healthy.put(key, await bytesDump(randomBytesOf(500_000, 'old')));
    let theirs = '';
    const replace = async () => {
      theirs = (await healthy.put(key, await textDump('new'))).etag;
    };
    const { client } = interruptedClient(table.client, 0, 'paused', replace, { counts: isOfLarge });

    await expect(storeOver(client).delete(key, { ifMatch: [etag] })).rejects.toSatisfy(
      ({ currentEtag }) => currentEtag === theirs,
    );

    expect(theirs).not.toBe('');
    expect(await healthy.head(key)).toMatchObject({ etag: theirs });
  });

  const expired = async () => {
    await healthy.put(key, await textDump('old'), { expiresAt: new Date(clock.now().getTime() + 1_000) });
    clock.advanceSecs(2);
  };
  /** The first request finds out that the snapshot has expired, the second takes it. */
  const beforeTaking = (meanwhile: () => Promise<unknown>) =>
    interruptedClient(table.client, 1, 'paused', meanwhile, { counts: isForget });

  test('of an expired snapshot, where nothing else is to be there, takes it, and leaves what replaces it', async () => {
    await expired();
    const { client, wasReached } = beforeTaking(async () => {});
    await storeOver(client).delete(key, { ifNoneMatch: '*' });
    expect(wasReached()).toBe(true);
    expect(await headRow()).toMatchObject({ gone: {}, ttl: { N: String(ttlAfter(clock.now())) } });

    await expired();
    const replaced = beforeTaking(async () => healthy.put(key, await textDump('new')));
    await expect(storeOver(replaced.client).delete(key, { ifNoneMatch: '*' })).rejects.toMatchObject({
      code: 'conflict',
    });
    expect(await healthy.get(key)).toBeDefined();
  });

  test('of an expired snapshot beside which somebody announces rows meanwhile takes these too', async () => {
    await expired();
    const { pk = { S: '' }, sk = { S: '' } } = (await headRow()) ?? {};
    const announcement = new UpdateItemCommand({
      ...{ TableName: table.tableName, Key: { pk, sk }, UpdateExpression: 'ADD #sets :sets' },
      ExpressionAttributeNames: { '#sets': 'sets' },
      ExpressionAttributeValues: { ':sets': { SS: ['E.1.1'] } },
    });
    const { client } = beforeTaking(() => table.client.send(announcement));

    await storeOver(client).delete(key, { ifNoneMatch: '*' });

    for (const name of ['etag', 'sets', 'dead']) expect(await headRow()).not.toHaveProperty(name);
  });

  test.each([
    ['for the condition that there is a head', 'ConditionalCheckFailedException', undefined],
    ['otherwise', 'TimeoutError', 'unavailable'],
  ])('of a large snapshot whose last step fails %s', async (_, name, code) => {
    await healthy.put(key, await bytesDump(randomBytesOf(500_000, 'old')));
    const { client } = clientWithFate(table.client, (_index, sent) =>
      expression(sent).startsWith('DELETE dead') ? { applied: false, error: sdkError(name) } : 'pass',
    );

    const outcome = await storeOver(client)
      .delete(key)
      .catch((error: unknown) => error);

    expect(outcome).toEqual(code && expect.objectContaining({ code }));
    expect(await healthy.head(key)).toBeUndefined();
    await healthy.delete(key);
    expect(await headRow()).not.toHaveProperty('dead');
  });

  test('leaves a tombstone for those who wrote lately, and none once they cannot come back', async () => {
    await healthy.put(key, await textDump('theirs'));
    await storeOver(table.client).delete(key);
    expect(await headRow()).toMatchObject({
      ttl: { N: String(ttlAfter(clock.now())) },
      gone: expect.anything(),
    });

    await healthy.put(key, await textDump('again'));
    clock.advanceSecs(abandonedAfterMs / 1000 + 1);
    await storeOver(table.client).delete(key);

    expect(await headRow()).toBeUndefined();
  });

  test('whose tombstone somebody wrote over meanwhile leaves that in peace', async () => {
    const isDropping = ({ name }: Sent) => name === 'DeleteItemCommand';
    await healthy.put(key, await textDump('old'));
    let etag = '';
    const send = async (command: { constructor: { name: string }; input: unknown }) => {
      if (isDropping({ name: command.constructor.name, input: command.input }))
        etag = (await healthy.put(key, await textDump('new'))).etag;
      return table.client.send(command as never);
    };
    clock.advanceSecs(abandonedAfterMs / 1000 + 1);

    await storeOver({ send } as unknown as DynamoDBClient).delete(key);

    expect(etag).not.toBe('');
    expect(await healthy.head(key)).toMatchObject({ etag });
  });

  test('whose tombstone cannot be deleted is done: it expires', async () => {
    await healthy.put(key, await textDump('old'));
    clock.advanceSecs(abandonedAfterMs / 1000 + 1);
    const { client, sent } = clientWithFate(table.client, (_index, { name }) =>
      name === 'DeleteItemCommand' ? { applied: false, error: sdkError('TimeoutError') } : 'pass',
    );

    await storeOver(client).delete(key);

    expect(sent.map(({ name }) => name)).toContain('DeleteItemCommand');
    expect(await headRow()).toMatchObject({ ttl: { N: String(ttlAfter(clock.now())) } });
  });

  test('of a large snapshot that somebody replaces before its tombstone is made leaves that in peace', async () => {
    await healthy.put(key, await bytesDump(randomBytesOf(500_000, 'old')));
    let etag = '';
    const send = async (command: { constructor: { name: string }; input: unknown }) => {
      const sent = { name: command.constructor.name, input: command.input };
      if (isTombstoneOnly(sent) && etag === '') etag = (await healthy.put(key, await textDump('new'))).etag;
      return table.client.send(command as never);
    };

    await storeOver({ send } as unknown as DynamoDBClient).delete(key);

    expect(etag).not.toBe('');
    expect(await headRow()).toMatchObject({ etag: { S: etag } });
    expect(await headRow()).not.toHaveProperty('gone');
  });

  test('of a large snapshot whose tombstone cannot be made is told: what is left would stay', async () => {
    await healthy.put(key, await bytesDump(randomBytesOf(500_000, 'old')));
    const { client } = clientWithFate(table.client, (_index, sent) =>
      isTombstoneOnly(sent) ? { applied: false, error: sdkError('TimeoutError') } : 'pass',
    );

    await expect(storeOver(client).delete(key)).rejects.toMatchObject({ code: 'unavailable' });
    await storeOver(table.client).delete(key);

    expect(await headRow()).toMatchObject({ ttl: { N: String(ttlAfter(clock.now())) } });
  });

  test.each([
    ['nothing', 'announced', 'sets'],
    ['a snapshot that expires', 'announced', 'sets'],
    ['a snapshot that expires', 'being removed', 'dead'],
  ] as const)(
    'of a large one, after which there is %s and rows of others are %s, leaves both',
    async (...of) => {
      const [next, , attribute] = of;
      await healthy.put(key, await bytesDump(randomBytesOf(500_000, 'old')));
      let theirs = '';
      const send = async (command: { constructor: { name: string }; input: unknown }) => {
        const sent = { name: command.constructor.name, input: command.input };
        if (/^DELETE #?dead/.test(expression(sent))) {
          if (next !== 'nothing') await healthy.put(key, await textDump('new'), inOneHour());
          theirs = await nameOthers(attribute);
        }
        return table.client.send(command as never);
      };

      await storeOver({ send } as unknown as DynamoDBClient).delete(key);

      const { sets, dead, ttl, etag } = (await headRow()) ?? {};
      expect({ ...sets, ...dead }).toEqual({ SS: [theirs] });
      expect(ttl).toBeUndefined();
      expect(etag === undefined).toBe(next === 'nothing');
    },
  );

  test('of a large snapshot ends as that of a small one does: a tombstone, or nothing', async () => {
    const large = await bytesDump(randomBytesOf(500_000, 'large'));
    await healthy.put(key, large);
    await storeOver(table.client).delete(key);
    const tombstone = await headRow();
    expect(tombstone).toMatchObject({ ttl: { N: String(ttlAfter(clock.now())) }, gone: expect.anything() });
    expect(Object.keys(tombstone ?? {}).filter((name) => ['etag', 'sets', 'dead'].includes(name))).toEqual(
      [],
    );

    await healthy.put(key, large);
    clock.advanceSecs(abandonedAfterMs / 1000 + 1);
    await storeOver(table.client).delete(key);

    expect(await headRow()).toBeUndefined();
  });
});

describe('the time to live of a head', () => {
  const large = (name: string) => bytesDump(randomBytesOf(500_000, name));
  const ttl = async () => (await headRow())?.ttl?.N;

  test.each([
    ['small', 'large'],
    ['large', 'small'],
    ['large', 'large'],
  ])('is that of its snapshot: a %s one that replaces a %s one', async (size, other) => {
    const dumpOf = (what: string) => (what === 'large' ? large(what) : textDump(what));
    await healthy.put(key, await dumpOf(other), { expiresAt: new Date(clock.now().getTime() + 60_000) });

    await healthy.put(key, await dumpOf(size), inOneHour());
    expect(await ttl()).toBe(String(ttlOf(inOneHour().expiresAt)));

    await healthy.put(key, await dumpOf(size));
    expect(await ttl()).toBeUndefined();
  });

  test('is taken by a writer who announces rows, and given back when the last of them are gone', async () => {
    await healthy.put(key, await textDump('theirs'), inOneHour());
    const expected = await ttl();
    const { client } = clientWithFate(table.client, (_index, { name }) =>
      name === 'PutItemCommand' ? { applied: false, error: sdkError('TimeoutError') } : 'pass',
    );

    await expect(storeOver(client).put(key, await large('never written'))).rejects.toMatchObject({
      code: 'unavailable',
    });

    expect(await headRow()).not.toHaveProperty('sets');
    expect(await ttl()).toBe(expected);
  });

  test('is not given back while rows of another writer are named', async () => {
    await healthy.put(key, await large('mine'), inOneHour());
    const theirs = await nameOthers();

    await healthy.put(key, await textDump('newer'), inOneHour());

    expect((await headRow())?.sets).toEqual({ SS: [theirs] });
    expect(await ttl()).toBeUndefined();
    clock.advanceSecs(abandonedAfterMs / 1000 + 1);
    const later = inOneHour();
    await healthy.put(key, await textDump('newest'), later);
    expect(await headRow()).not.toHaveProperty('sets');
    expect(await ttl()).toBe(String(ttlOf(later.expiresAt)));
  });
});
