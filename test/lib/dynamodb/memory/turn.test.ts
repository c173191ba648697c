import { type AttributeValue, DynamoDBClient, UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { mockClient } from 'aws-sdk-client-mock';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { abandonedAfterMs, lanesMax, uncertainLaneMs, wideIntentBytes } from '../../../../lib/defaults.ts';
import { SessionLanes } from '../../../../lib/dynamodb/memory/lanes.ts';
import { dynamoDbMemoryStore } from '../../../../lib/dynamodb/memory/store.ts';
import { digestOf } from '../../../../lib/memory/digest.ts';
import type { AppendRequest } from '../../../../lib/memory/memory-store.ts';
import { packValue } from '../../../../lib/memory/message-codec.ts';
import { sdkError } from '../../../support/failing-client.ts';

const now = new Date('2027-01-01T00:00:00.250Z');
const later = (ms: number) => new Date(now.getTime() + ms);
const dynamoDb = mockClient(DynamoDBClient);
// It stands in for every client of the process.
afterAll(() => dynamoDb.restore());
const scope = { agent: 'a', session: 's1' };
const storeOf = () =>
  dynamoDbMemoryStore({
    ...{ client: new DynamoDBClient({ region: 'eu-central-1' }), tableName: 'T' },
    ...{ clock: () => now, newEtag: () => 'E' },
  });
beforeEach(() => {
  dynamoDb.reset();
});

const append = async (more: Partial<AppendRequest> = {}, ids = ['m1'], store = storeOf()) => {
  const dump = await packValue('hi', 'x');
  const records = ids.map((id) => ({ id, at: undefined, dump, digest: digestOf('hi') }));
  const request = { records, receivedAt: now.getTime(), retentionSecs: undefined, requestId: undefined };
  return store.append(scope, 'message', { ...request, ...more });
};
/** What is sent to the session's clock, the turn itself apart. */
const tidying = () =>
  dynamoDb
    .commandCalls(UpdateItemCommand)
    .map((call) => call.args[0].input)
    .filter(({ Key }) => Key?.sk?.S === 'arrivals')
    .slice(1)
    .map(({ UpdateExpression, ConditionExpression, ExpressionAttributeValues = {} }) => {
      const spell = (text = '') => text.replace(/:v\d+/g, (name) => ExpressionAttributeValues[name]?.N ?? '');
      return `${spell(UpdateExpression)} IF ${spell(ConditionExpression)}`;
    });
const clock = (more: Record<string, AttributeValue> = {}) => ({
  Attributes: { arrivals: { N: '8' }, forgets: { N: '0' }, ...more },
});
const own = 'w_a9f51566bd67_0';

describe('the clock of a session', () => {
  const notRegistered = () => Promise.reject(new Error('not registered'));
  const inADay = String(Math.floor(now.getTime() / 1000) + 86_400);

  test.each<[string, Record<string, AttributeValue>, string[]]>([
    ['that this call has made expires', { arrivals: { N: '1' } }, [`SET #ttl = ${inADay} IF arrivals = 1`]],
    ['that knows of a forget stays', { arrivals: { N: '1' }, forgets: { N: '1' } }, []],
    ['that knows of other calls stays', {}, []],
    ['that expires goes on to', { ttl: { N: '5' } }, []],
  ])('of a call that is not admitted, %s', async (_, attributes, sent) => {
    dynamoDb.on(UpdateItemCommand).resolves(clock(attributes));

    await expect(append({ admit: notRegistered })).rejects.toThrow('not registered');

    expect(tidying()).toEqual(sent);
  });

  test('that expires stays from a call on that is admitted', async () => {
    dynamoDb.on(UpdateItemCommand).resolves(clock({ ttl: { N: '5' } }));

    await append();

    expect(tidying()).toEqual(['REMOVE #ttl IF attribute_exists(arrivals)']);
  });
});

describe('what a call has announced', () => {
  /** Two ids whose keys take so many bytes. */
  const idsOf = (bytes: number) => {
    const letters = bytes - 2 * 'message/'.length;
    return ['x'.repeat(Math.ceil(letters / 2)), 'y'.repeat(Math.floor(letters / 2))];
  };

  test.each([
    ['stays where it is small', wideIntentBytes, []],
    ['is taken back where it is large', wideIntentBytes + 1, [`REMOVE ${own} IF ${own}.turn = 1`]],
  ])('%s', async (_, bytes, sent) => {
    dynamoDb.on(UpdateItemCommand).resolves(clock());

    await append({}, idsOf(bytes));

    expect(tidying()).toEqual(sent);
  });

  test('stays where the call fails, and where taking it back fails the call does not', async () => {
    const ids = idsOf(wideIntentBytes + 1);
    dynamoDb.on(UpdateItemCommand).resolvesOnce(clock()).rejects(sdkError('TimeoutError'));
    await expect(append({}, ids)).rejects.toMatchObject({ code: 'unavailable' });
    expect(tidying()).toEqual([]);

    dynamoDb.reset();
    dynamoDb
      .on(UpdateItemCommand)
      .resolvesOnce(clock())
      .resolvesOnce({})
      .resolvesOnce({})
      .rejects(sdkError('TimeoutError'));
    expect(await append({}, ids)).toHaveLength(2);
    expect(tidying()).toHaveLength(1);
  });

  const intents = (count: number, ageMs: number) =>
    Object.fromEntries(
      Array.from({ length: count }, (_, index) => {
        const at = { N: String(now.getTime() - ageMs) };
        return [`w_o_${index}`, { M: { keys: { SS: ['message/x'] }, turn: { N: `${index}` }, at } }];
      }),
    );

  test.each([
    ['of more writers than that, all of them long over', lanesMax + 1, abandonedAfterMs + 1, lanesMax],
    ['of as many as may be', lanesMax, abandonedAfterMs + 1, 0],
    ['of writers that may come back', lanesMax + 1, abandonedAfterMs, 0],
  ])('by others, %s, is removed: %i, %i ms old', async (_, count, ageMs, removed) => {
    dynamoDb.on(UpdateItemCommand).resolves(clock(intents(count, ageMs)));

    await append();

    const lanes = Array.from({ length: removed }, (_lane, index) => `w_o_${index}`);
    const turns = lanes.map((lane, index) => `${lane}.turn = ${index}`);
    const expected = `REMOVE ${lanes.join(', ')} IF ${turns.join(' AND ')}`;
    expect(tidying()).toEqual(removed === 0 ? [] : [expected]);
  });

  test('by many is removed where it is over, beside what is not', async () => {
    const attributes = { ...intents(lanesMax, 0), w_old_0: intents(1, abandonedAfterMs + 1).w_o_0 };
    dynamoDb.on(UpdateItemCommand).resolves(clock(attributes as Record<string, AttributeValue>));

    await append();

    expect(tidying()).toEqual(['REMOVE w_old_0 IF w_old_0.turn = 0']);
  });
});

describe('a turn that is refused', () => {
  const since = { arrivals: 3, forgets: 0 };

  test('is that of a call that goes by what was forgotten since; another one tries no more', async () => {
    dynamoDb.on(UpdateItemCommand).rejects(sdkError('ConditionalCheckFailedException'));

    await expect(append({ since })).rejects.toMatchObject({ code: 'forgotten_meanwhile' });
    await expect(append()).rejects.toMatchObject({ code: 'unavailable' });
  });

  test('otherwise is not', async () => {
    dynamoDb.on(UpdateItemCommand).rejects(sdkError('TimeoutError'));

    await expect(append({ since })).rejects.toMatchObject({ code: 'unavailable' });
  });

  test.each([
    ['for a condition frees its lane', 'ConditionalCheckFailedException', 0],
    ['otherwise keeps its lane, where its request may still arrive', 'TimeoutError', 1],
  ])('%s', async (_, name, next) => {
    const store = storeOf();
    dynamoDb.on(UpdateItemCommand).rejectsOnce(sdkError(name)).resolves(clock());
    await expect(append({ since }, ['m1'], store)).rejects.toThrow();

    await append({}, ['m1'], store);

    const [, turn] = dynamoDb.commandCalls(UpdateItemCommand).map((call) => call.args[0].input);
    expect(turn?.UpdateExpression).toContain(`SET w_a9f51566bd67_${next} =`);
  });
});

test.each([
  ['that ends well leaves its lane to the next one', undefined, 0],
  ['that fails keeps its lane, where a request of it may still arrive', 'TimeoutError', 1],
])('a call %s', async (_, name, next) => {
  const store = storeOf();
  const answers = dynamoDb.on(UpdateItemCommand).resolvesOnce(clock());
  if (name === undefined) answers.resolves(clock());
  else answers.rejectsOnce(sdkError(name)).resolves(clock());
  const first = append({}, ['m1'], store);
  if (name === undefined) await first;
  else await expect(first).rejects.toMatchObject({ code: 'unavailable' });

  await append({}, ['m2'], store);

  const turns = dynamoDb
    .commandCalls(UpdateItemCommand)
    .map((call) => call.args[0].input.UpdateExpression ?? '')
    .filter((update) => update.includes('ADD arrivals'));
  expect(turns).toHaveLength(2);
  expect(turns[1]).toContain(`SET w_a9f51566bd67_${next} =`);
});

test('a lane is used by one call at a time, and again at once where each request had its answer', () => {
  const lanes = new SessionLanes('me');
  const [first, second] = [lanes.take(now), lanes.take(now)];
  expect([first, second]).toMatchObject([
    { index: 0, name: 'w_me_0', turn: 1 },
    { index: 1, turn: 2 },
  ]);

  lanes.giveBack(first, true, now);

  expect(lanes.take(now)).toMatchObject({ index: 0, turn: 3 });
  expect(lanes.take(now)).toMatchObject({ index: 2, turn: 4 });
});

test('a lane whose requests may still arrive is used again when they cannot', () => {
  const lanes = new SessionLanes('me');
  const [first, second] = [lanes.take(now), lanes.take(now)];
  lanes.giveBack(first, false, now);
  lanes.giveBack(second, false, later(1));

  expect(lanes.take(later(uncertainLaneMs - 1)).index).toBe(2);
  expect(lanes.take(later(uncertainLaneMs)).index).toBe(0);
  expect(lanes.take(later(uncertainLaneMs)).index).toBe(3);
  expect(lanes.take(later(uncertainLaneMs + 1)).index).toBe(1);
});
