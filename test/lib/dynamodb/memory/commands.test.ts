import {
  DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
  QueryCommand,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb';
import { mockClient } from 'aws-sdk-client-mock';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { errorShards, raceAttempts } from '../../../../lib/defaults.ts';
import { dynamoDbMemoryStore } from '../../../../lib/dynamodb/memory/store.ts';
import { dynamoDbCounters } from '../../../../lib/dynamodb/sessions/counters.ts';
import { dynamoDbErrorLog } from '../../../../lib/dynamodb/sessions/error-log.ts';
import { dynamoDbSessionStore } from '../../../../lib/dynamodb/sessions/session-store.ts';
import { tables } from '../../../../lib/dynamodb/tables.ts';
import { UnavailableError } from '../../../../lib/errors.ts';
import { digestOf } from '../../../../lib/memory/digest.ts';
import { packValue } from '../../../../lib/memory/message-codec.ts';
import { sdkError } from '../../../support/failing-client.ts';

const now = new Date('2027-01-01T00:00:00.250Z');
const dynamoDb = mockClient(DynamoDBClient);
// It stands in for every client of the process.
afterAll(() => dynamoDb.restore());
const client = new DynamoDBClient({ region: 'eu-central-1' });
const memory = dynamoDbMemoryStore({
  ...{ client, tableName: 'T', clock: () => now, newEtag: () => 'E' },
  ...{ inlineMaxBytes: 100, chunkMaxBytes: 150 },
});
const sessions = dynamoDbSessionStore(client, 'T');
const errors = dynamoDbErrorLog({ client, tableName: 'T', newUnique: () => 'u' });
const counters = dynamoDbCounters(client, 'T', { clock: () => now, writer: 'me' });
const scope = { agent: 'a/b', session: 's1' };
const pk = { S: 'memory/a%2Fb~s1' };

beforeEach(() => {
  dynamoDb.reset();
});

const sent = () =>
  dynamoDb.calls().map((call) => ({
    name: call.args[0].constructor.name,
    input: call.args[0].input as Record<string, unknown>,
  }));

/** An expression with its placeholders replaced, so that a test can be read. */
function readable(input: Record<string, unknown>): Record<string, string> {
  const values = (input.ExpressionAttributeValues ?? {}) as Record<string, Record<string, unknown>>;
  const spell = (text: unknown) =>
    String(text)
      .replace(/:v\d+/g, (placeholder) => {
        const [value] = Object.values(values[placeholder] ?? {});
        if (value instanceof Uint8Array) return `<${value.length} bytes>`;
        return Object.hasOwn(Object(value), 'checksum') ? '<info>' : JSON.stringify(value);
      })
      .replace(/#/g, '');
  const expressions = Object.entries(input).filter(([key]) => key.endsWith('Expression'));
  return Object.fromEntries(
    expressions.map(([key, text]) => [key.replace('Expression', '').toLowerCase(), spell(text)]),
  );
}

const request = async (ids: string[], text: string, requestId?: string) => {
  const dump = await packValue(text, 'x');
  const records = ids.map((id) => ({ id, at: undefined, dump, digest: digestOf(text) }));
  return { records, receivedAt: now.getTime(), retentionSecs: 60, requestId };
};
/** Of the first call of a store whose unique name is `E`. */
const lane = 'w_a9f51566bd67_0';
const atPlace = 'message/101798761600250.000000000000007';

describe('commands on memory', () => {
  test('a small message is a number taken and one conditional update, with its time to live in epoch seconds', async () => {
    dynamoDb
      .on(UpdateItemCommand)
      .resolvesOnce({ Attributes: { arrivals: { N: '8' } } })
      .resolves({});

    await memory.append(scope, 'message', await request(['m1'], 'hi'));

    const [count, store, ...others] = sent();
    expect(others).toEqual([]);
    expect(count?.input).toMatchObject({ TableName: 'T', Key: { pk, sk: { S: 'arrivals' } } });
    expect(readable(count?.input ?? {})).toEqual({
      update: `SET ${lane} = {"keys":{"SS":["message/m1"]},"turn":{"N":"1"},"at":{"N":"1798761600250"}} ADD arrivals "1"`,
      condition: `(attribute_not_exists(${lane}) OR ${lane}.turn <= "1")`,
    });
    expect(store?.input).toMatchObject({ TableName: 'T', Key: { pk, sk: { S: 'message/m1' } } });
    expect(readable(store?.input ?? {})).toEqual({
      update: [
        `SET place = "${atPlace}", info = <info>, arrival = "8", digest = <32 bytes>, ttl = "1798761660",`,
        'body = <4 bytes> REMOVE chunks, fence, fencedUntil, gone',
      ].join(' '),
      condition: [
        '(attribute_not_exists(place) OR begins_with(place, "limbo/") OR info.expiresAt <= "1798761600250")',
        '(attribute_not_exists(fence) OR fence <= "8" OR fencedUntil <= "1798761600250")',
      ].join(' AND '),
    });
  });

  test('a message that expired years ago is due for deletion now, since DynamoDB leaves alone what is that old', async () => {
    dynamoDb.on(UpdateItemCommand).resolves({ Attributes: { arrivals: { N: '8' } } });
    const old = await request(['m1'], 'hi');

    await memory.append(scope, 'message', { ...old, records: old.records.map((one) => ({ ...one, at: 0 })) });

    expect(readable(sent()[1]?.input ?? {}).update).toContain('ttl = "1798761600"');
  });

  test('a request that may come again keeps its numbers and its time under its name', async () => {
    dynamoDb
      .on(UpdateItemCommand)
      .resolvesOnce({ Attributes: { arrivals: { N: '8' } } })
      .resolves({});
    dynamoDb.on(PutItemCommand).resolves({});

    await memory.append(scope, 'message', await request(['m1', 'm2'], 'hi', 'R'));

    const [put] = dynamoDb.commandCalls(PutItemCommand).map((call) => call.args[0].input);
    expect(put?.Item).toEqual({
      pk,
      sk: { S: 'request/R' },
      receivedAt: { N: '1798761600250' },
      firstArrival: { N: '6' },
      forgets: { N: '0' },
      ttl: { N: '1798848000' },
    });
    expect(readable({ ...put })).toEqual({
      condition: 'attribute_not_exists(pk) OR receivedAt <= "1798761540250" OR forgets < "0"',
    });
    expect(sent().map(({ name }) => name)).toEqual([
      'UpdateItemCommand',
      'PutItemCommand',
      'UpdateItemCommand',
      'UpdateItemCommand',
    ]);
  });

  test('a request that was received before stores in the places it got then', async () => {
    dynamoDb
      .on(UpdateItemCommand)
      .resolvesOnce({ Attributes: { arrivals: { N: '80' } } })
      .resolves({});
    dynamoDb.on(PutItemCommand).rejects(sdkError('ConditionalCheckFailedException'));
    dynamoDb
      .on(GetItemCommand)
      .resolves({ Item: { receivedAt: { N: '1798761600250' }, firstArrival: { N: '7' } } });

    await memory.append(scope, 'message', await request(['m1', 'm2'], 'hi', 'R'));

    const places = sent().flatMap(
      ({ input }) => readable(input).update?.match(/place = "([^"]+)"/)?.[1] ?? [],
    );
    expect(places).toEqual([atPlace, atPlace.replace(/7$/, '8')]);
    expect(dynamoDb.commandCalls(GetItemCommand)[0]?.args[0].input.ConsistentRead).toBe(true);
  });

  test.each([
    ['all that fit', 8, 504, [8]],
    ['what no longer fits after them', 9, 504, [8, 1]],
    ['fewer where they are longer', 8, 505, [7, 1]],
  ])(
    'ids are announced in portions, with numbers for all taken once: %s',
    async (_, count, chars, portions) => {
      dynamoDb.on(UpdateItemCommand).resolves({ Attributes: { arrivals: { N: '80' } } });
      const ids = Array.from({ length: count }, (_id, index) => `${index}`.padEnd(chars, 'x'));

      await memory.append(scope, 'message', await request(ids, 'hi'));

      const turns = sent()
        .map(({ input }) => readable(input).update ?? '')
        .filter((update) => update.includes('ADD arrivals'));
      const announced = turns.map((update) => [
        update.split('message/').length - 1,
        update.split(' ').at(-1),
      ]);
      expect(announced).toEqual(portions.map((size, index) => [size, index === 0 ? `"${count}"` : '"0"']));
      const places = sent().flatMap(
        ({ input }) => readable(input).update?.match(/SET place = "([^"]+)"/)?.[1] ?? [],
      );
      expect(places).toHaveLength(count);
      expect(new Set(places).size).toBe(count);
    },
  );

  test('a request whose name is gone by the time it is read stores in places of its own', async () => {
    dynamoDb.on(UpdateItemCommand).resolves({ Attributes: { arrivals: { N: '8' } } });
    dynamoDb.on(PutItemCommand).rejects(sdkError('ConditionalCheckFailedException'));
    dynamoDb.on(GetItemCommand).resolves({});

    await memory.append(scope, 'message', await request(['m1'], 'hi', 'R'));

    expect(readable(sent().at(-1)?.input ?? {}).update).toContain(`place = "${atPlace}"`);
  });

  test.each([
    ['cannot be kept', 'ThrottlingException', {}, 'unavailable'],
    ['holds no time', 'ConditionalCheckFailedException', { firstArrival: { N: '7' } }, 'corrupt'],
    ['holds no number', 'ConditionalCheckFailedException', { receivedAt: { N: '7' } }, 'corrupt'],
  ])('a request whose name %s stores nothing', async (_, name, Item, code) => {
    dynamoDb.on(UpdateItemCommand).resolves({ Attributes: { arrivals: { N: '8' } } });
    dynamoDb.on(PutItemCommand).rejects(sdkError(name));
    dynamoDb.on(GetItemCommand).resolves({ Item });

    const appended = memory.append(scope, 'message', await request(['m1'], 'hi', 'R'));

    await expect(appended).rejects.toMatchObject({ code });
    expect(dynamoDb.commandCalls(UpdateItemCommand)).toHaveLength(1);
  });

  test.each([
    ['one update', 98, 2],
    ['announced', 99, 4],
  ])(
    'a message is %s where its text of %i characters makes 100 bytes at the most',
    async (_, chars, requests) => {
      dynamoDb.on(UpdateItemCommand).resolves({ Attributes: { arrivals: { N: '8' } } });
      dynamoDb.on(PutItemCommand).resolves({});

      await memory.append(scope, 'message', await request(['m1'], 'x'.repeat(chars)));

      expect(sent()).toHaveLength(requests);
    },
  );

  test('a message whose place is taken by what is gone when it is looked at is stored at the next try', async () => {
    dynamoDb
      .on(UpdateItemCommand)
      .resolvesOnce({ Attributes: { arrivals: { N: '8' } } })
      .rejectsOnce(sdkError('ConditionalCheckFailedException'))
      .resolves({});
    dynamoDb.on(GetItemCommand).resolves({});

    expect(await memory.append(scope, 'message', await request(['m1'], 'hi'))).toMatchObject([
      { created: true, record: { id: 'm1' } },
    ]);
    expect(sent().map(({ name }) => name.replace('ItemCommand', ''))).toEqual([
      ...['Update', 'Update', 'Get', 'Update'],
    ]);
  });

  test('what orders the memory is read consistently', async () => {
    dynamoDb.on(GetItemCommand).resolves({});

    expect(await memory.moment(scope)).toEqual({ arrivals: 0, forgets: 0 });

    expect(sent()[0]?.input).toMatchObject({ ConsistentRead: true });
  });

  test('a large message is announced, written in rows, put in place', async () => {
    dynamoDb
      .on(UpdateItemCommand)
      .resolvesOnce({ Attributes: { arrivals: { N: '8' } } })
      .resolves({});
    dynamoDb.on(PutItemCommand).resolves({});

    await memory.append(scope, 'message', await request(['m1'], 'x'.repeat(300)));

    const [, announce, ...rest] = sent();
    const commit = rest.pop();
    expect(readable(announce?.input ?? {})).toMatchObject({
      update: 'SET place = if_not_exists(place, "limbo/001798761600250") ADD sets ["E.3.1798761600250"]',
    });
    const rows = rest.map(({ input }) => input.Item as Record<string, { S?: string; N?: string }>);
    expect(rows.map((row) => [row.pk?.S, row.owner?.S, row.ttl?.N])).toEqual(
      [0, 1, 2].map((index) => [`chunk/E/${index}`, 'memory/a%2Fb~s1/message/m1', '1798761660']),
    );
    expect(readable(commit?.input ?? {}).update).toContain('chunks = "E.3.1798761600250" REMOVE body');
    expect(readable(commit?.input ?? {}).condition).toMatch(/ AND contains\(sets, "E.3.1798761600250"\)$/);
  });

  test('a list is a strongly consistent query of the index, that goes on after an empty page and ends at an empty key', async () => {
    const next = { pk, sk: { S: 'message/x' }, place: { S: 'message/1' } };
    dynamoDb
      .on(QueryCommand)
      .resolvesOnce({ Items: [], LastEvaluatedKey: next })
      .resolvesOnce({ Items: [], LastEvaluatedKey: {} });

    const page = await memory.list(scope, 'message', { from: 0, to: 9, order: 'desc', limit: 5 });

    expect(page).toEqual({ items: [], next: undefined });
    const queries = dynamoDb.commandCalls(QueryCommand).map((call) => call.args[0].input);
    expect(queries.map(({ ExclusiveStartKey }) => ExclusiveStartKey)).toEqual([undefined, next]);
    expect(queries[0]).toMatchObject({
      ...{ IndexName: 'byPlace', ConsistentRead: true, ScanIndexForward: false, Limit: 6 },
    });
    expect(readable({ ...queries[0] }).keycondition).toBe(
      'pk = "memory/a%2Fb~s1" AND place BETWEEN "message/100000000000000" AND "message/100000000000009:"',
    );
  });

  test('a range that ends before it begins asks nothing', async () => {
    expect(await memory.list(scope, 'message', { from: 2, to: 1, order: 'asc', limit: 5 })).toMatchObject({
      items: [],
    });
    expect(dynamoDb.calls()).toHaveLength(0);
  });

  test('forgetting leaves a marker in the place of each message, and looks for what crashes left', async () => {
    const item = { pk, sk: { S: 'message/m1' }, place: { S: atPlace }, arrival: { N: '8' } };
    dynamoDb
      .on(QueryCommand)
      .resolvesOnce({ Items: [item] })
      .resolves({});
    dynamoDb.on(UpdateItemCommand).resolves({});

    const moment = { arrivals: 12, forgets: 1 };
    expect(await memory.forgetRange(scope, 'message', { to: 5 }, moment)).toBe(1);

    const [query, remove, sweep] = sent();
    expect(readable(query?.input ?? {})).toEqual({
      keycondition: 'pk = "memory/a%2Fb~s1" AND place BETWEEN "message/0" AND "message/100000000000005:"',
      projection: 'sk, place, info, chunks, sets, dead, arrival, digest, fence, fencedUntil, gone',
    });
    expect(readable(remove?.input ?? {})).toEqual({
      update:
        'SET fence = "12", fencedUntil = "1798848000000", gone = {"arrival":{"N":"8"}}, ttl = "1798848000"' +
        ' REMOVE place, info, body, chunks, arrival, digest, dead',
      condition: `place = "${atPlace}" AND attribute_not_exists(fence) AND attribute_not_exists(sets) AND attribute_not_exists(dead)`,
    });
    expect(readable(sweep?.input ?? {}).keycondition).toContain(
      'BETWEEN "limbo/000000000000000" AND "limbo/:"',
    );
  });

  const begun = { Attributes: { arrivals: { N: '9' }, forgets: { N: '1' } } };
  const record = (sk: string, arrival: number) => ({
    ...{ pk, sk: { S: sk }, place: { S: sk.replace('/', '/1.') }, arrival: { N: String(arrival) } },
  });

  test('a forget of a session takes what is older from page to page, until a look finds nothing', async () => {
    const info = { M: { expiresAt: { N: String(now.getTime()) } } };
    const request = { pk, sk: { S: 'request/R' }, forgets: { N: '0' } };
    const clock = { pk, sk: { S: 'arrivals' }, ...begun.Attributes };
    const next = { pk, sk: { S: 'message/b' } };
    dynamoDb.on(UpdateItemCommand).resolvesOnce(begun).resolves({});
    dynamoDb
      .on(QueryCommand)
      .resolvesOnce({
        Items: [clock, record('capsule/k', 8), record('message/a', 8)],
        LastEvaluatedKey: next,
      })
      .resolvesOnce({ LastEvaluatedKey: next })
      .resolvesOnce({
        Items: [
          ...[{ ...record('message/expired', 7), info }, record('message/new', 9), request],
          { pk, sk: { S: 'user/ann/k' }, info, arrival: { N: '8' } },
          { pk, sk: { S: 'user/ann/new' }, info, arrival: { N: '9' } },
        ],
        LastEvaluatedKey: {},
      })
      .resolves({});

    expect(await memory.forgetScope(scope)).toBe(1);

    const [begin, ...others] = sent();
    expect(readable(begin?.input ?? {}).update).toBe('SET ttl = "1798848000" ADD arrivals "1", forgets "1"');
    const taken = others.flatMap(({ name, input }) =>
      name === 'QueryCommand' ? [] : [`${name} ${(input.Key as typeof request).sk.S}`],
    );
    expect(taken).toEqual([
      'UpdateItemCommand message/a',
      'UpdateItemCommand capsule/k',
      'UpdateItemCommand message/expired',
      'UpdateItemCommand user/ann/k',
      'DeleteItemCommand request/R',
    ]);
    const looks = dynamoDb.commandCalls(QueryCommand).map((call) => call.args[0].input);
    expect(looks.map(({ ExclusiveStartKey }) => ExclusiveStartKey)).toEqual([
      ...[undefined, next, next, undefined],
    ]);
    for (const { ConsistentRead } of looks) expect(ConsistentRead).toBe(true);
  });

  test.each<[string, Record<string, object>[]]>([
    ['a message and a value', [{ pk, sk: { S: 'user/ann/k' }, info: { M: {} }, arrival: { N: '8' } }]],
    ['a message and a request', [{ pk, sk: { S: 'request/R' } }]],
    [
      'a value and a request',
      [
        { pk, sk: { S: 'user/ann/k' }, info: { M: {} } },
        { pk, sk: { S: 'request/R' } },
      ],
    ],
  ])('a forget of a session that has found %s looks again', async (_, items) => {
    const Items = [...(items.length === 1 ? [record('message/a', 8)] : []), ...items] as never;
    dynamoDb.on(UpdateItemCommand).resolvesOnce(begun).resolves({});
    dynamoDb.on(QueryCommand).resolvesOnce({ Items }).resolves({});

    await memory.forgetScope(scope);

    expect(dynamoDb.commandCalls(QueryCommand)).toHaveLength(2);
  });

  test('a forget of a session that always finds something gives up', async () => {
    dynamoDb.on(UpdateItemCommand).resolvesOnce(begun).resolves({});
    dynamoDb.on(QueryCommand).resolves({ Items: [record('message/a', 8)] });

    await expect(memory.forgetScope(scope)).rejects.toMatchObject({ code: 'unavailable' });

    expect(dynamoDb.commandCalls(QueryCommand)).toHaveLength(raceAttempts);
  });

  test('pruning reads the index, and what orders the memory only where there is something to prune', async () => {
    dynamoDb.on(QueryCommand).resolves({});
    expect(await memory.prune(scope, 'message', 5)).toBe(0);
    expect(sent().map(({ name }) => name)).toEqual(['QueryCommand', 'QueryCommand']);

    dynamoDb.reset();
    dynamoDb.on(GetItemCommand).resolves({ Item: begun.Attributes });
    dynamoDb.on(UpdateItemCommand).resolves({});
    dynamoDb
      .on(QueryCommand)
      .resolvesOnce({ Items: [record('message/a', 3), record('message/b', 4)] })
      .resolves({});
    expect(await memory.prune(scope, 'message', 5)).toBe(2);

    expect(dynamoDb.commandCalls(GetItemCommand)).toHaveLength(1);
    const [first] = dynamoDb.commandCalls(UpdateItemCommand).map((call) => call.args[0].input);
    // Whatever has a number by now is refused.
    expect(readable({ ...first }).update).toContain(
      'SET fence = "10", fencedUntil = "1798848000000", gone = {"arrival":{"N":"3"},"pruned":{"BOOL":true}}',
    );
  });

  test('a forget is one update, that tells what is under way, and fences each of that', async () => {
    const intent = { M: { keys: { SS: ['message/m1', 'user/u/k'] }, turn: { N: '1' }, at: { N: '1' } } };
    dynamoDb
      .on(UpdateItemCommand)
      .resolvesOnce({ Attributes: { arrivals: { N: '9' }, forgets: { N: '2' }, w_other_0: intent } })
      .resolves({});
    dynamoDb.on(GetItemCommand).resolves({});

    expect(await memory.beginForget(scope)).toEqual({ arrivals: 9, forgets: 2 });

    const [begin, look, fence, ...others] = sent();
    expect(others).toEqual([]);
    expect(begin?.input).toMatchObject({ Key: { pk, sk: { S: 'arrivals' } }, ReturnValues: 'ALL_NEW' });
    expect(readable(begin?.input ?? {})).toEqual({ update: 'ADD arrivals "1", forgets "1"' });
    expect(look?.input).toMatchObject({ Key: { sk: { S: 'message/m1' } }, ConsistentRead: true });
    expect(readable(fence?.input ?? {})).toEqual({
      update: 'SET fence = "9", fencedUntil = "1798848000000", ttl = "1798848000"',
      condition: 'attribute_not_exists(place) AND attribute_not_exists(info)',
    });
  });
});

describe('commands on sessions, errors and counters', () => {
  test('registering is one update, marking as active another that registers nothing', async () => {
    const item = { v: { N: '1' }, meta: { S: '{}' }, registeredAt: { N: '1' }, lastActiveAt: { N: '2' } };
    dynamoDb.on(UpdateItemCommand).resolves({ Attributes: item });

    await sessions.register('a', { id: 's1', meta: { n: 1 }, at: now });
    await sessions.touch('a', 's1', now);

    const [register, touch] = sent();
    // The shard is the hash of the id, pinned: another one would lose what is stored.
    expect(register?.input.Key).toEqual({ pk: { S: 'sessions/a/12' }, sk: { S: 'session/s1' } });
    const { update, condition } = readable(register?.input ?? {});
    const [call] = /"[0-9a-f-]{36}"/.exec(update ?? '') ?? [];
    expect(update).toBe(
      [
        'SET v = "1", meta = "{\\"n\\":1}"',
        'registeredAt = if_not_exists(registeredAt, "1798761600250")',
        `registeredBy = if_not_exists(registeredBy, ${call})`,
        'lastActiveAt = "1798761600250" REMOVE ttl',
      ].join(', '),
    );
    expect(condition).toBe(`attribute_not_exists(deregisteredOf) OR deregisteredOf <> ${call}`);
    expect(readable(touch?.input ?? {})).toEqual({
      update: 'SET lastActiveAt = "1798761600250"',
      condition: 'attribute_exists(registeredAt)',
    });
  });

  test('a shard is read on over empty pages, and ends at an empty key', async () => {
    const item = (id: string) => ({
      sk: { S: `session/${id}` },
      ...{ v: { N: '1' }, meta: { S: '{}' }, registeredAt: { N: '1' }, lastActiveAt: { N: '2' } },
    });
    const next = { pk: { S: 'sessions/a/3' }, sk: { S: 'session/x' } };
    dynamoDb
      .on(QueryCommand)
      .resolvesOnce({ Items: [], LastEvaluatedKey: next })
      .resolvesOnce({ Items: [item('y')], LastEvaluatedKey: next })
      .resolvesOnce({ Items: [item('z')], LastEvaluatedKey: {} });

    const page = await sessions.listShard({ agent: 'a', shard: 3, limit: 9 });

    expect(page.items.map(({ id }) => id)).toEqual(['y', 'z']);
    expect(page.next).toBeUndefined();
    expect(dynamoDb.commandCalls(QueryCommand)).toHaveLength(3);
  });

  test('an error is one put, with a time to live; a counter one addition', async () => {
    dynamoDb.on(QueryCommand).resolves({});
    dynamoDb.on(PutItemCommand).resolves({});
    dynamoDb.on(UpdateItemCommand).resolves({ Attributes: { amount: { N: '4' }, s_me0: { N: '3' } } });

    const [first, later] = [now, new Date(now.getTime() + 59_000)];
    for (const at of [first, later])
      await errors.record('a', { where: 'w', msg: 'm', sessionId: 's' }, { at, maxErrors: 10 });
    expect(await counters.bump('a', 'n', 2)).toBe(3);

    // Before the first one the newest stamp of each partition is looked at, for a minute.
    expect(dynamoDb.commandCalls(QueryCommand)).toHaveLength(errorShards);
    const [record, second, bump] = sent().slice(errorShards);
    expect(second?.input.Item).toMatchObject({ sk: { S: '001798761659250.000000001.u' } });
    expect(record?.input.Item).toMatchObject({
      pk: { S: expect.stringMatching(/^errors\/a\/[0-7]$/) },
      sk: { S: '001798761600250.000000000.u' },
      ...{ where: { S: 'w' }, msg: { S: 'm' }, sessionId: { S: 's' }, ttl: { N: '1806537600' } },
      recordedAt: { N: String(now.getTime()) },
    });
    expect(bump?.input.Key).toEqual({ pk: { S: 'counter/a~n' }, sk: { S: 'counter' } });
    expect(readable(bump?.input ?? {})).toEqual({
      update: [
        'SET amount = if_not_exists(amount, "0") + "2"',
        's_me0 = if_not_exists(amount, "0") + "2"',
        'w_me0 = "1798761600250000000000000"',
      ].join(', '),
      condition: 'NOT w_me0 >= "1798761600250000000000000"',
    });
  });

  test('knowledge is learned and forgotten by one update each, which its lane lets in once', async () => {
    dynamoDb.on(UpdateItemCommand).resolvesOnce({ Attributes: {} });
    dynamoDb.on(UpdateItemCommand).resolves({ Attributes: { s_a9f51566bd670: { M: {} } } });
    const knowledge = { kind: 'knowledge', agent: 'a/b' } as const;

    await memory.putValue(knowledge, 'k', await packValue('text', 'x'));
    expect(await memory.forgetValue(knowledge, 'k')).toBe(true);

    const lane = 'w_a9f51566bd670';
    const [first, second] = sent();
    for (const request of [first, second])
      expect(request?.input.Key).toEqual({
        pk: { S: expect.stringMatching(/^knowledge\/a%2Fb\/\d+$/) },
        sk: { S: 'key/k' },
      });
    expect(readable(first?.input ?? {})).toEqual({
      update: `SET info = <info>, body = <6 bytes>, ${lane} = "1798761600250000000000000" REMOVE gone, ttl`,
      condition: `NOT ${lane} >= "1798761600250000000000000"`,
    });
    expect(readable(second?.input ?? {})).toEqual({
      update: [
        'SET gone = {}, ttl = "1798848000"',
        's_a9f51566bd670 = if_not_exists(info, false)',
        `${lane} = "1798761600250020000000000" REMOVE info, body`,
      ].join(', '),
      condition: `NOT ${lane} >= "1798761600250020000000000"`,
    });
    expect(sent()).toHaveLength(2);
  });

  test('items of another format are corrupt, not guessed at', async () => {
    dynamoDb.on(GetItemCommand).resolves({ Item: { sk: { S: 'session/s1' }, v: { N: '2' } } });

    await expect(sessions.get('a', 's1')).rejects.toMatchObject({ code: 'corrupt' });
  });

  test('names too long for a key together are refused', async () => {
    const long = '%'.repeat(500);

    await expect(memory.get({ agent: long, session: long }, 'message', 'm')).rejects.toMatchObject({
      code: 'invalid_key',
    });
  });
});

describe('errors of the SDK', () => {
  test.each([
    ['ProvisionedThroughputExceededException', { throttled: true, retryable: true }],
    ['ThrottlingException', { throttled: true, retryable: true }],
    ['InternalServerError', { throttled: false, retryable: true }],
    ['TimeoutError', { throttled: false, retryable: true }],
    ['AccessDeniedException', { throttled: false, retryable: false }],
    ['ResourceNotFoundException', { throttled: false, retryable: false }],
  ])('%s is unavailable on every call, never "not there"', async (name, expected) => {
    dynamoDb.onAnyCommand().rejects(sdkError(name));
    const small = await request(['m1'], 'hi');
    const value = await packValue(1, 'x');
    const user = { kind: 'user', ...scope, identity: 'ann' } as const;

    for (const call of [
      () => memory.append(scope, 'message', small),
      () => memory.get(scope, 'message', 'm1'),
      () => memory.list(scope, 'message', { order: 'asc', limit: 1 }),
      () => memory.forgetRange(scope, 'message', {}, { arrivals: 1, forgets: 1 }),
      () => memory.beginForget(scope),
      () => memory.moment(scope),
      () => memory.removeCompacted(scope, ['m1'], { arrivals: 1 }),
      () => memory.forgottenAmong(scope, ['m1']),
      () => memory.prune(scope, 'message', 1),
      () => memory.forgetIds(scope, 'message', ['m1'], { arrivals: 1, forgets: 1 }),
      () => memory.forgetScope(scope),
      () => memory.putValue(user, 'k', value),
      () => memory.listValues(user, { limit: 1 }),
      () => memory.forgetValue(user, 'k'),
      () => memory.listIdentities(scope),
      () => sessions.register('a', { id: 's', meta: {}, at: now }),
      () => sessions.touch('a', 's', now),
      () => sessions.get('a', 's'),
      () => sessions.deregister('a', 's'),
      () => sessions.listShard({ agent: 'a', shard: 0, limit: 1 }),
      () => errors.record('a', { where: 'w', msg: 'm' }, { at: now, maxErrors: 1 }),
      () => errors.list({ agent: 'a', limit: 1, maxErrors: 1 }),
      () => counters.bump('a', 'n', 1),
      () => counters.get('a', 'n'),
    ]) {
      const thrown: unknown = await call().catch((caught: unknown) => caught);
      expect(thrown).toBeInstanceOf(UnavailableError);
      expect(thrown).toMatchObject({ code: 'unavailable', ...expected });
    }
  });

  test('a batch of which one message is never accepted names it, and stores the others', async () => {
    dynamoDb
      .on(UpdateItemCommand)
      .resolves({ Attributes: { arrivals: { N: '60' } } })
      .on(UpdateItemCommand, { Key: { pk, sk: { S: 'message/m7' } } })
      .rejects(sdkError('ThrottlingException'));
    const ids = Array.from({ length: 60 }, (_, index) => `m${index}`);

    await expect(memory.append(scope, 'message', await request(ids, 'hi'))).rejects.toMatchObject({
      ...{ code: 'unavailable', ids: ['m7'], throttled: true, retryable: true },
    });
    expect(dynamoDb.commandCalls(UpdateItemCommand)).toHaveLength(61);
  });
});

test('the tables have ids and environment variables of their own', () => {
  expect(tables.map(({ id, env }) => [id, env])).toEqual([
    ['Snapshots', 'DORMOUSE_SNAPSHOTS_TABLE'],
    ['Sessions', 'DORMOUSE_SESSIONS_TABLE'],
    ['Errors', 'DORMOUSE_ERRORS_TABLE'],
    ['Runs', 'DORMOUSE_RUNS_TABLE'],
  ]);
});
