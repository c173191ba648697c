import { type DynamoDBClient, UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { raceAttempts } from '../../../../lib/defaults.ts';
import { dynamoDbMemoryStore } from '../../../../lib/dynamodb/memory/store.ts';
import { sessionsTable } from '../../../../lib/dynamodb/tables.ts';
import { type AgentMemory, createMemory, DEFAULT_RETENTION } from '../../../../lib/index.ts';
import { digestOf } from '../../../../lib/memory/digest.ts';
import { packValue } from '../../../../lib/memory/message-codec.ts';
import { type EmbeddedTable, embeddedTable } from '../../../support/embedded-table.ts';
import { sdkError } from '../../../support/failing-client.ts';
import { interruptedClient } from '../../../support/pausing-client.ts';
import { randomBytesOf } from '../../../support/random-bytes.ts';
import { testClock } from '../../../support/test-clock.ts';

const policy = { ...DEFAULT_RETENTION, rawRetentionSecs: null };
const large = randomBytesOf(400, 'large').toString('base64');

const none = { S: '' };

function deferred() {
  let resolve = () => {};
  const promise = new Promise<void>((settle) => {
    resolve = settle;
  });
  return { promise, resolve: () => resolve() };
}

describe('forgetting in DynamoDB', () => {
  const clock = testClock();
  let table: EmbeddedTable;
  let sessions = 0;
  let session: string;
  beforeAll(async () => {
    table = await embeddedTable(sessionsTable);
  });
  afterAll(() => table.close());
  beforeEach(() => {
    session = `s${++sessions}`;
  });

  const memoryOver = (client: DynamoDBClient = table.client): AgentMemory => {
    const sizes = { inlineMaxBytes: 100, chunkMaxBytes: 100 };
    const memory = dynamoDbMemoryStore({ client, tableName: table.tableName, clock: clock.now, ...sizes });
    const options = { stores: { memory }, policy, clock: clock.now };
    return createMemory('agent', session, { id: 'ann' }, options);
  };
  const rowsOf = async () => (await table.rows()).filter(({ pk }) => pk?.S === `memory/agent~${session}`);
  /** Memory in which something happens right before the first request for which the predicate holds. */
  const interruptedBefore = (
    matches: (command: { name: string; update: string }) => boolean,
    meanwhile: () => Promise<unknown>,
  ) => {
    let happened = false;
    const send = async (command: { constructor: { name: string }; input: { UpdateExpression?: string } }) => {
      const update = command.input.UpdateExpression ?? '';
      if (!happened && matches({ name: command.constructor.name, update })) {
        happened = true;
        await meanwhile();
      }
      return table.client.send(command as never);
    };
    return memoryOver({ send } as unknown as DynamoDBClient);
  };

  test('a call in each of whose turns something is forgotten gives up after so many', async () => {
    const { store, scope } = memoryOver();
    let asked = 0;
    const admit = async () => {
      asked++;
      await store.beginForget(scope);
    };
    const dump = await packValue(1, 'value');
    const record = { id: 'm1', at: undefined, dump, digest: digestOf(1) };
    const request = {
      records: [record],
      receivedAt: 0,
      retentionSecs: undefined,
      requestId: undefined,
      admit,
    };

    for (const call of [
      () => store.append(scope, 'message', request),
      () => store.putValue({ kind: 'lineage', ...scope }, 'k', dump, { admit }),
    ]) {
      asked = 0;
      await expect(call()).rejects.toMatchObject({ code: 'unavailable' });
      expect(asked).toBe(raceAttempts);
    }
  });

  test('what a compaction removes while the session is forgotten leaves nothing that tells of it', async () => {
    await memoryOver().remember({ id: 'm1', content: 'secret' });
    const { store, scope } = memoryOver();
    const compact = async () => store.removeCompacted(scope, ['m1'], await store.moment(scope));

    const forgetting = interruptedBefore(({ update }) => update.startsWith('SET fence'), compact);
    await forgetting.forgetSession();

    const rows = await rowsOf();
    expect(rows.find(({ sk }) => sk?.S === 'message/m1')).toMatchObject({ fence: { N: expect.any(String) } });
    expect(rows.filter(({ gone }) => gone?.M?.digest !== undefined)).toEqual([]);
    await expect(memoryOver().remember({ id: 'm1', content: 'another' })).resolves.toHaveLength(1);
  });

  test('a writer that announces rows while a record is removed finds an item without what was removed', async () => {
    await memoryOver().remember({ id: 'm1', content: large });
    const moment = await memoryOver().store.beginForget(memoryOver().scope);
    const [announced, removed] = [deferred(), deferred()];
    const isFirstRow = ({ name }: { name: string }) => name === 'PutItemCommand';
    const writer = interruptedBefore(isFirstRow, () => {
      announced.resolve();
      return removed.promise;
    });
    let stored: Promise<unknown> | undefined;
    const isBurial = ({ update }: { update: string }) => /^SET #ttl = :v\d REMOVE body$/.test(update);
    const remover = interruptedBefore(isBurial, () => {
      stored = writer.remember({ id: 'm1', content: `${large}again` });
      return announced.promise;
    });

    await remover.store.forgetIds(remover.scope, 'message', ['m1'], moment);
    // It names rows that are being written: it must not expire before them.
    const between = (await rowsOf()).find(({ sk }) => sk?.S === 'message/m1');
    expect(between).toMatchObject({ place: { S: expect.stringMatching('^limbo/') }, sets: {} });
    removed.resolve();
    await stored;

    const [row] = (await rowsOf()).filter(({ sk }) => sk?.S === 'message/m1');
    expect((await memoryOver().recent()).items).toMatchObject([{ content: `${large}again` }]);
    expect(row?.dead).toBeUndefined();
  });

  test.each([
    ['', undefined],
    [', nor where rows of an earlier removal are still named', 'E.1.1'],
  ])(
    'a removal that was lost on its way, and is sent again when the record is in place, takes no rows from it%s',
    async (_, earlier) => {
      const [announced, claiming] = [deferred(), deferred()];
      const isCommit = ({ update }: { update: string }) => update.includes('chunks =');
      const writer = interruptedBefore(isCommit, () => {
        announced.resolve();
        return claiming.promise;
      });
      let stored: Promise<unknown> | undefined;
      const announce = async () => {
        stored = writer.remember({ id: 'm1', content: large });
        await announced.promise;
        const [{ pk = none, sk = none } = {}] = (await rowsOf()).filter((row) => row.sk?.S === 'message/m1');
        if (earlier === undefined) return;
        await table.client.send(
          new UpdateItemCommand({
            ...{ TableName: table.tableName, Key: { pk, sk }, UpdateExpression: 'ADD dead :sets' },
            ExpressionAttributeValues: { ':sets': { SS: [earlier] } },
          }),
        );
      };
      const commit = async () => {
        claiming.resolve();
        await stored;
      };
      const isQuery = ({ name }: { name: string }) => name === 'QueryCommand';
      const isClaim = ({ input }: { input: unknown }) =>
        String((input as { UpdateExpression?: string }).UpdateExpression).includes('ADD dead');
      const seesAnnouncement = interruptedClient(table.client, 0, 'paused', announce, { counts: isQuery });
      const remover = interruptedClient(seesAnnouncement.client, 0, 'sent again', commit, {
        counts: isClaim,
      });

      await memoryOver(remover.client).forgetSession();

      expect(remover.wasReached()).toBe(true);
      expect((await memoryOver().recent()).items).toMatchObject([{ id: 'm1', content: large }]);
    },
  );

  test('a retry that comes after its message was forgotten is a success, and stores nothing', async () => {
    const forget = () => memoryOver().forgetSessionRange(0, clock.now());
    const late = interruptedClient(table.client, 1, 'delivered twice', forget);

    expect(await memoryOver(late.client).remember({ id: 'm1', content: 'late' })).toMatchObject([
      { id: 'm1' },
    ]);

    expect((await memoryOver().recent()).items).toEqual([]);
  });

  test.each(['delivered twice', 'sent again'] as const)(
    'a key that is not set is told to be so where the request that forgets it is %s, and what comes meanwhile stays',
    async (how) => {
      const isMarker = ({ input }: { input: unknown }) =>
        String((input as { UpdateExpression?: string }).UpdateExpression).startsWith('SET fence');
      const set = () => memoryOver().setUserData('color', 'red');
      const forgetting = interruptedClient(table.client, 0, how, set, { counts: isMarker });

      expect(await memoryOver(forgetting.client).forgetUserKey('color')).toBe(false);

      expect(await memoryOver().getUserData()).toEqual({ color: 'red' });
    },
  );

  test('a value whose request comes after its key was forgotten is not stored, though none was there before', async () => {
    let late: unknown;
    const send = async (command: { constructor: { name: string } }) => {
      if (command.constructor.name !== 'PutItemCommand') return table.client.send(command as never);
      late = command;
      throw sdkError('TimeoutError', 3);
    };
    const losing = memoryOver({ send } as unknown as DynamoDBClient);
    await expect(losing.setUserData('color', 'red')).rejects.toMatchObject({ code: 'unavailable' });

    expect(await memoryOver().forgetUserKey('color')).toBe(false);
    const arrival = table.client.send(late as never);

    await expect(arrival).rejects.toMatchObject({ name: 'ConditionalCheckFailedException' });
    expect(await memoryOver().getUserData()).toEqual({});
  });

  test('a retry that comes after its user data was forgotten is a success, and stores nothing', async () => {
    const forget = () => memoryOver().forgetUserKey('mood');
    const late = interruptedClient(table.client, 1, 'delivered twice', forget);

    await memoryOver(late.client).setUserData('mood', 'late');

    expect(await memoryOver().getUserData()).toEqual({});
  });

  test('a request on knowledge that arrives again changes nothing of what came after it, and tells what it did', async () => {
    const twice = (between: () => Promise<unknown>) =>
      memoryOver(interruptedClient(table.client, 0, 'delivered twice', between).client);

    await twice(() => memoryOver().learn('fact', 'newer')).learn('fact', 'older');
    expect(await memoryOver().getKnowledge()).toEqual({ fact: 'newer' });
    await twice(() => memoryOver().forgetKbKey('fact')).learn('fact', 'late');
    expect(await memoryOver().getKnowledge()).toEqual({});
    await memoryOver().learn('fact', 'known');
    expect(await twice(() => memoryOver().learn('fact', 'again')).forgetKbKey('fact')).toBe(true);
    expect(await memoryOver().getKnowledge()).toEqual({ fact: 'again' });
  });

  const isMarker = ({ update }: { update: string }) => update.startsWith('SET fence');
  const isRead = ({ name }: { name: string }) => name === 'GetItemCommand';
  const setBlue = () => memoryOver().setUserData('color', 'blue');
  const told: boolean[] = [];
  const forgetColor = async () => told.push(await memoryOver().forgetUserKey('color'));
  const rowOf = async (key: string) => (await rowsOf()).find(({ sk }) => sk?.S === key);

  test.each([
    ['before it is looked at', isRead],
    ['before its marker is left', isMarker],
  ])(
    'a key that is set again %s is forgotten with what it was set to, by a later call',
    async (_, matches) => {
      await memoryOver().setUserData('color', 'red');

      expect(await interruptedBefore(matches, setBlue).forgetUserKey('color')).toBe(true);

      expect(await memoryOver().getUserData()).toEqual({});
      const { fence } = (await rowOf('user/ann/color')) ?? {};
      expect(fence).toEqual((await rowOf('arrivals'))?.arrivals);
    },
  );

  test.each([
    ['before it is looked at', () => interruptedBefore(isRead, forgetColor)],
    ['before its marker is left', () => interruptedBefore(isMarker, forgetColor)],
    [
      'while its marker is lost on its way',
      () =>
        memoryOver(
          interruptedClient(table.client, 0, 'sent again', forgetColor, {
            counts: ({ input }) =>
              String((input as { UpdateExpression?: string }).UpdateExpression).startsWith('SET fence'),
          }).client,
        ),
    ],
  ])('of two calls that forget a key, the other one %s, one is told that it was set', async (_, memory) => {
    await memoryOver().setUserData('color', 'red');

    told.push(await memory().forgetUserKey('color'));

    expect(told.splice(0)).toEqual([true, false]);
    expect(await memoryOver().getUserData()).toEqual({});
  });

  test('of two calls that set a key the later one stays, though it is stored first', async () => {
    const isPut = ({ name }: { name: string }) => name === 'PutItemCommand';

    await interruptedBefore(isPut, setBlue).setUserData('color', 'red');

    expect(await memoryOver().getUserData()).toEqual({ color: 'blue' });
  });

  test('what is stored after a forget of the session has begun stays', async () => {
    await memoryOver().remember({ id: 'old', content: 1 });
    const isLook = ({ name }: { name: string }) => name === 'QueryCommand';
    const store = () => memoryOver().remember({ id: 'new', content: large });

    expect(await interruptedBefore(isLook, store).forgetSession()).toBe(1);

    expect((await memoryOver().recent()).items).toMatchObject([{ id: 'new', content: large }]);
  });

  test('a large message that is forgotten while its retry reads it is a message again', async () => {
    await memoryOver().remember({ id: 'm1', content: large });
    const forget = () => memoryOver().forgetSessionRange(0, clock.now());
    // The item, then the first of its rows.
    const { client } = interruptedClient(table.client, 1, 'paused', forget, { counts: isRead });

    expect(await memoryOver(client).remember({ id: 'm1', content: large })).toMatchObject([{ id: 'm1' }]);

    expect((await memoryOver().recent()).items).toMatchObject([{ content: large }]);
  });

  test('a large message that another call removes first is counted by that one', async () => {
    await memoryOver().remember({ id: 'm1', content: large });
    const isClaim = ({ update }: { update: string }) => update.includes('ADD dead');
    const forget = () => memoryOver().forgetSessionRange(0, clock.now());

    expect(await interruptedBefore(isClaim, forget).forgetSessionRange(0, clock.now())).toBe(0);
  });

  test('a removal that is cut off after its claim has left its marker', async () => {
    await memoryOver().remember({ id: 'm1', content: large });
    const isBurial = ({ update }: { update: string }) => /^SET #ttl = :v\d REMOVE body$/.test(update);
    const dying = interruptedBefore(isBurial, () => Promise.reject(sdkError('TimeoutError')));

    await expect(dying.forgetSessionRange(0, clock.now())).rejects.toMatchObject({ code: 'unavailable' });

    expect(await rowOf('message/m1')).toMatchObject({ fence: {}, gone: {}, dead: {} });
  });

  test('rows that only the record itself names go with it, and a name that is none is passed over', async () => {
    await memoryOver().remember({ id: 'm1', content: large });
    const { pk = none, sk = none } = (await rowOf('message/m1')) ?? {};
    await table.client.send(
      new UpdateItemCommand({
        ...{ TableName: table.tableName, Key: { pk, sk }, UpdateExpression: 'SET #sets = :none' },
        ExpressionAttributeNames: { '#sets': 'sets' },
        ExpressionAttributeValues: { ':none': { SS: ['none'] } },
      }),
    );

    expect(await memoryOver().forgetSessionRange(0, clock.now())).toBe(1);

    const owner = `memory/agent~${session}/message/m1`;
    expect((await table.rows()).filter((row) => row.owner?.S === owner && row.body !== undefined)).toEqual(
      [],
    );
    expect(await rowOf('message/m1')).not.toHaveProperty('dead');
  });

  test('the clock of a forgotten session expires, unless the session is used again', async () => {
    const clockRow = async () => (await rowsOf()).find(({ sk }) => sk?.S === 'arrivals');
    await memoryOver().remember({ id: 'm1', content: 1 });
    const before = Number((await clockRow())?.arrivals?.N);

    await memoryOver().forgetSession();
    expect((await clockRow())?.ttl?.N).toBe(String(Math.floor(clock.now().getTime() / 1000) + 86_400));
    await memoryOver().remember({ id: 'm2', content: 1 });

    expect((await clockRow())?.ttl).toBeUndefined();
    expect(Number((await clockRow())?.arrivals?.N)).toBeGreaterThan(before);
  });

  test('of many writers those that are long over leave the clock', async () => {
    for (let writer = 0; writer < 33; writer++) await memoryOver().remember({ id: `m${writer}`, content: 1 });
    clock.advanceSecs(16 * 60);
    await memoryOver().remember({ id: 'last', content: 1 });

    const row = (await rowsOf()).find(({ sk }) => sk?.S === 'arrivals') ?? {};
    expect(Object.keys(row).filter((name) => name.startsWith('w_')).length).toBeLessThanOrEqual(2);
  });
});
