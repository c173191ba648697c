import { type AttributeValue, PutItemCommand } from '@aws-sdk/client-dynamodb';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { abandonedAfterMs, lanesKept, lanesTrimmedAtOnce } from '../../../../lib/defaults.ts';
import { dynamoDbCounters } from '../../../../lib/dynamodb/sessions/counters.ts';
import { sessionsTable } from '../../../../lib/dynamodb/tables.ts';
import { type EmbeddedTable, embeddedTable } from '../../../support/embedded-table.ts';
import { clientWithFate, type Fate, sdkError } from '../../../support/failing-client.ts';
import { type TestClock, testClock } from '../../../support/test-clock.ts';

describe('what a counter keeps of its writers', () => {
  let table: EmbeddedTable;
  let clock: TestClock;
  let counters = 0;
  let name: string;

  beforeAll(async () => {
    table = await embeddedTable(sessionsTable);
  });
  afterAll(() => table.close());
  beforeEach(() => {
    clock = testClock();
    name = `visits-${++counters}`;
  });

  const bumpBy = (writer: string, client = table.client) =>
    dynamoDbCounters(client, table.tableName, { clock: clock.now, writer }).bump('agent', name, 1);
  const bumpByEach = async (writers: number) => {
    for (let writer = 0; writer < writers; writer++) await bumpBy(`writer${writer}x`);
  };
  /** What the item has beside its key and its amount: two attributes for each writer. */
  const keptOfWriters = async () => {
    const [item = {}] = (await table.rows()).filter(({ pk }) => pk?.S?.includes(name));
    return Object.keys(item).filter((attribute) => !['pk', 'sk', 'amount'].includes(attribute));
  };

  test('is left for a few, and goes with the next write where there are more that are over', async () => {
    await bumpByEach(lanesKept);
    clock.advanceSecs(abandonedAfterMs / 1000 + 1);
    expect(await bumpBy('few')).toBe(lanesKept + 1);
    expect(await keptOfWriters()).toHaveLength(2 * (lanesKept + 1));

    await bumpBy('many');
    clock.advanceSecs(abandonedAfterMs / 1000 + 1);
    expect(await bumpBy('last')).toBe(lanesKept + 3);

    expect(await keptOfWriters()).toEqual([expect.stringContaining('last'), expect.stringContaining('last')]);
  });

  test('goes so many writers at a time', async () => {
    await bumpByEach(lanesTrimmedAtOnce + 6);
    clock.advanceSecs(abandonedAfterMs / 1000 + 1);

    await bumpBy('last');

    expect(await keptOfWriters()).toHaveLength(2 * (6 + 1));
  });

  test('is left where taking it out fails: the write has been made', async () => {
    await bumpByEach(lanesKept + 1);
    clock.advanceSecs(abandonedAfterMs / 1000 + 1);
    const fate = (index: number): Fate =>
      index === 0 ? 'pass' : { applied: false, error: sdkError('InternalServerError') };
    const { client, sent } = clientWithFate(table.client, fate);

    expect(await bumpBy('last', client)).toBe(lanesKept + 2);

    expect(sent.length).toBeGreaterThan(1);
    expect(await keptOfWriters()).toHaveLength(2 * (lanesKept + 2));
  });

  test('a write that fails is told, not taken for one that was made', async () => {
    await bumpBy('first');
    const { client } = clientWithFate(table.client, (_index, { name: command }) =>
      command === 'UpdateItemCommand' ? { applied: false, error: sdkError('ValidationException') } : 'pass',
    );

    await expect(bumpBy('other', client)).rejects.toThrow('ValidationException');
  });
});

describe('a counter of which no number can be read', () => {
  let table: EmbeddedTable;
  beforeAll(async () => {
    table = await embeddedTable(sessionsTable);
  });
  afterAll(() => table.close());

  test.each<[string, Record<string, AttributeValue>]>([
    ['nothing', {}],
    ['a text', { amount: { S: '1' } }],
  ])('is corrupt, not 0: it holds %s', async (what, attributes) => {
    const Item = { pk: { S: `counter/agent~${what}` }, sk: { S: 'counter' }, ...attributes };
    await table.client.send(new PutItemCommand({ TableName: table.tableName, Item }));

    const counters = dynamoDbCounters(table.client, table.tableName);

    await expect(counters.get('agent', what)).rejects.toMatchObject({ code: 'corrupt' });
  });

  test('is corrupt where the sum of an addition is gone, which is looked for consistently', async () => {
    const { client, sent } = clientWithFate(table.client, (index) =>
      index === 0 ? { applied: false, error: sdkError('ConditionalCheckFailedException', 2) } : 'pass',
    );

    const bumped = dynamoDbCounters(client, table.tableName).bump('agent', 'gone', 1);

    await expect(bumped).rejects.toMatchObject({ code: 'corrupt' });
    expect(sent[1]).toMatchObject({ name: 'GetItemCommand', input: { ConsistentRead: true } });
  });
});
