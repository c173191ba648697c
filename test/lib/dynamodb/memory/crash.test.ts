import { DeleteItemCommand } from '@aws-sdk/client-dynamodb';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { dynamoDbMemoryStore } from '../../../../lib/dynamodb/memory/store.ts';
import { sessionsTable } from '../../../../lib/dynamodb/tables.ts';
import { type AgentMemory, createMemory, DEFAULT_RETENTION, type NewMessage } from '../../../../lib/index.ts';
import { type EmbeddedTable, embeddedTable } from '../../../support/embedded-table.ts';
import { clientWithFate, isWrite, sdkError } from '../../../support/failing-client.ts';
import { atEveryWrite, dyingClient } from '../../../support/process-death.ts';
import { randomBytesOf } from '../../../support/random-bytes.ts';
import { type TestClock, testClock } from '../../../support/test-clock.ts';

const policy = { ...DEFAULT_RETENTION, rawRetentionSecs: null };
const large = randomBytesOf(3_000, 'large').toString('base64');

describe('a process that dies during a call on memory', () => {
  let table: EmbeddedTable;
  let clock: TestClock;
  let sessions = 0;
  let session: string;

  beforeAll(async () => {
    table = await embeddedTable(sessionsTable);
  });
  afterAll(() => table.close());
  beforeEach(() => {
    clock = testClock();
    session = `s${++sessions}`;
  });

  // Small chunks, so that a few kilobytes are several of them.
  const memoryOver = (client: EmbeddedTable['client']): AgentMemory => {
    const options = {
      tableName: table.tableName,
      clock: clock.now,
      inlineMaxBytes: 500,
      chunkMaxBytes: 1_500,
    };
    const store = dynamoDbMemoryStore({ client, ...options });
    return createMemory(
      'agent',
      session,
      { id: 'ann' },
      { stores: { memory: store }, policy, clock: clock.now },
    );
  };
  const contentsOf = async () =>
    (await memoryOver(table.client).recent()).items.map(({ id, content }) => [id, content]);
  const contentsOf100 = async () =>
    (await memoryOver(table.client).recent({ limit: 100 })).items.map(({ id, content }) => [id, content]);
  const rows = async () =>
    (await table.rows()).filter(
      ({ pk, owner }) =>
        pk?.S === `memory/agent~${session}` || owner?.S?.startsWith(`memory/agent~${session}/`) === true,
    );
  /** The rows that hold anything: not the session's clock, and not what tells late calls that something was forgotten. */
  const rowKeys = async () =>
    (await rows())
      .filter(({ sk, fence, place }) => sk?.S !== 'arrivals' && (fence === undefined || place !== undefined))
      .filter(({ sk, body }) => sk?.S !== 'chunk' || body !== undefined)
      .map(({ pk, sk }) => (sk?.S === 'chunk' ? pk?.S : sk?.S));

  /** Runs the call in a process that dies at its first write, its second, and so on. */
  const killedAtEveryWrite = (
    prepare: () => Promise<unknown>,
    call: (memory: AgentMemory) => Promise<unknown>,
    check: (acknowledged: boolean) => Promise<void>,
  ) =>
    atEveryWrite(table.client, {
      async prepare() {
        session = `s${++sessions}`;
        await prepare();
      },
      call: (client) => call(memoryOver(client)),
      check,
    });

  const batch: NewMessage[] = [
    { id: 'z', content: 'first' },
    { id: 'a', content: large },
    { id: 'm', content: 'third' },
    { id: 'b', content: 'given a time', timestamp: '2027-02-01T00:00:00Z' },
  ];
  const whole = batch.map(({ id, content }) => [id, content]);

  test('a batch killed at each write and sent again is stored once each, in its order', async () => {
    const partial = new Set<number>();

    const deaths = await killedAtEveryWrite(
      () => memoryOver(table.client).remember({ id: 'before', content: 0 }),
      (memory) => memory.remember(batch),
      async (acknowledged) => {
        const stored = await contentsOf();
        const expected = [['before', 0], ...whole];
        expect(stored).toEqual(expected.filter(([id]) => stored.some(([known]) => known === id)));
        if (acknowledged) expect(stored).toEqual(expected);
        partial.add(stored.length);
        clock.advanceSecs(5);
        await memoryOver(table.client).remember({
          id: 'meanwhile',
          content: 9,
          timestamp: '2027-06-01T00:00:00Z',
        });

        await memoryOver(table.client).remember(batch);

        expect(await contentsOf()).toEqual([...expected, ['meanwhile', 9]]);
      },
    );

    expect(deaths).toBeGreaterThanOrEqual(14);
    expect(partial.size).toBeGreaterThanOrEqual(3);
  });

  test('a forget killed at each write leaves every message whole or gone, and repeating it finishes', async () => {
    const deaths = await killedAtEveryWrite(
      () => memoryOver(table.client).remember(batch),
      (memory) => memory.forgetSessionRange(0, '2030-01-01T00:00:00Z'),
      async (acknowledged) => {
        const stored = await contentsOf();
        expect(whole).toEqual(expect.arrayContaining(stored));
        if (acknowledged) expect(stored).toEqual([]);

        clock.advanceSecs(16 * 60);
        await memoryOver(table.client).forgetSessionRange(0, '2030-01-01T00:00:00Z');

        expect(await contentsOf()).toEqual([]);
        const left = await rowKeys();
        expect(left.filter((sk) => !sk?.startsWith('request/'))).toEqual([]);
      },
    );

    expect(deaths).toBeGreaterThanOrEqual(10);
  });

  test('forgetting the session removes every row, also those of calls that died', async () => {
    const deaths = await killedAtEveryWrite(
      async () => {},
      (memory) => memory.remember(batch),
      async () => {
        await memoryOver(table.client).forgetSession();

        expect(await rowKeys()).toEqual([]);
      },
    );

    expect(deaths).toBeGreaterThanOrEqual(14);
  });

  test('a forget of the session killed at each write can be repeated', async () => {
    await killedAtEveryWrite(
      () => memoryOver(table.client).remember(batch),
      (memory) => memory.forgetSession(),
      async () => {
        await memoryOver(table.client).forgetSession();

        expect(await rowKeys()).toEqual([]);
      },
    );
  });

  test('a large message whose writer died a moment ago is left alone, and passed over by another writer', async () => {
    const memory = memoryOver(dyingClient(table.client, 3, true).client);
    await expect(memory.remember({ id: 'a', content: large })).rejects.toMatchObject({
      code: 'unavailable',
      ids: ['a'],
    });
    const left = (await rows()).length;
    const healthy = memoryOver(table.client);

    expect(await healthy.forgetSessionRange(0, '2030-01-01T00:00:00Z')).toBe(0);
    expect((await rows()).length).toBe(left);
    expect(await contentsOf()).toEqual([]);
    await healthy.remember({ id: 'a', content: 'small' });
    expect(await contentsOf()).toEqual([['a', 'small']]);
    expect(await healthy.forgetSessionRange(0, '2030-01-01T00:00:00Z')).toBe(1);
    expect(await rowKeys()).toEqual([]);
  });

  test('a writer whose rows a forget took starts over, and is stored after it', async () => {
    let forgotten = false;
    const racing = {
      send: async (command: { input: { UpdateExpression?: string } }) => {
        if (command.input.UpdateExpression?.includes('chunks =') === true && !forgotten) {
          forgotten = true;
          await memoryOver(table.client).forgetSession();
        }
        return table.client.send(command as never);
      },
    } as unknown as EmbeddedTable['client'];

    await memoryOver(racing).remember({ id: 'a', content: large });

    expect(forgotten).toBe(true);
    expect(await contentsOf()).toEqual([['a', large]]);
  });

  test('while 30 % of all writes are throttled, sending again until it succeeds stores each message once', async () => {
    let writes = 0;
    const { client } = clientWithFate(table.client, (_index, command) =>
      isWrite(command) && (randomBytesOf(1, `throttle ${writes++}`)[0] ?? 0) < 77
        ? { applied: false, error: sdkError('ThrottlingException', 3) }
        : 'pass',
    );
    const sent = Array.from({ length: 60 }, (_, index) => ({ id: `m${index}`, content: index }));
    const stored = new Set<string>();

    for (let attempt = 0; attempt < 20 && stored.size < 60; attempt++) {
      const error: { throttled?: boolean; ids?: string[] } | undefined = await memoryOver(client)
        .remember(sent)
        .then(() => undefined)
        .catch((caught) => caught);
      if (error) expect(error).toMatchObject({ code: 'unavailable', throttled: true, retryable: true });
      if (error?.ids || !error) for (const { id } of sent) if (!error?.ids?.includes(id)) stored.add(id);
      const there = new Set((await contentsOf100()).map(([id]) => id));
      for (const id of stored) expect(there).toContain(id);
    }

    expect(await contentsOf100()).toEqual(sent.map(({ id, content }) => [id, content]));
  });

  test('ten writers of one large message store it once, and leave no row of the others', async () => {
    const outcomes = await Promise.all(
      Array.from({ length: 10 }, () => memoryOver(table.client).remember({ id: 'a', content: large })),
    );

    for (const outcome of outcomes) expect(outcome).toEqual(outcomes[0]);
    expect(await contentsOf()).toEqual([['a', large]]);
    const chunks = (await rows()).filter(({ sk, body }) => sk?.S === 'chunk' && body !== undefined);
    expect(chunks).toHaveLength(3);
  });

  test('a chunk row that is missing makes its message corrupt, never shorter, and it can be forgotten', async () => {
    const memory = memoryOver(table.client);
    await memory.remember({ id: 'a', content: large });
    const [chunk] = (await rows()).filter(({ sk }) => sk?.S === 'chunk');
    await table.client.send(
      new DeleteItemCommand({
        TableName: table.tableName,
        Key: { pk: chunk?.pk ?? { S: '' }, sk: { S: 'chunk' } },
      }),
    );

    await expect(memory.recent()).rejects.toMatchObject({ code: 'corrupt' });
    await expect(memory.remember({ id: 'a', content: large })).rejects.toMatchObject({
      ...{ code: 'unavailable', retryable: false, ids: ['a'], cause: { code: 'corrupt' } },
    });
    expect(await memory.forgetSessionRange(0, '2030-01-01T00:00:00Z')).toBe(1);
    expect((await memory.recent()).items).toEqual([]);
  });
});
