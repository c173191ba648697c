import { createHash } from 'node:crypto';
import {
  DeleteItemCommand,
  DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
  QueryCommand,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb';
import { mockClient } from 'aws-sdk-client-mock';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { dynamoDbStore } from '../../../../lib/dynamodb/dynamodb-store.ts';
import { ConflictError, UnavailableError } from '../../../../lib/errors.ts';
import type { SnapshotCatalog } from '../../../../lib/persistence/snapshot-store.ts';
import { bytesDump, textDump } from '../../../contracts/snapshot-store-contract.ts';
import { sdkError } from '../../../support/failing-client.ts';
import { randomBytesOf } from '../../../support/random-bytes.ts';

const now = new Date('2027-01-01T00:00:00.250Z');
const dynamoDb = mockClient(DynamoDBClient);
// It stands in for every client of the process.
afterAll(() => dynamoDb.restore());
/** The shard is the hash of the key, pinned: another one would lose what is stored. */
const headKey = { pk: { S: 'heads/agent/1' }, sk: { S: 'key/k' } };

let store: SnapshotCatalog;
beforeEach(() => {
  dynamoDb.reset();
  store = dynamoDbStore({
    ...{ client: new DynamoDBClient({ region: 'eu-central-1' }), tableName: 'T', clock: () => now },
    ...{ newEtag: () => 'E', writer: 'me', inlineMaxBytes: 100, chunkMaxBytes: 150 },
  });
});

const inputsOf = () => dynamoDb.commandCalls(UpdateItemCommand).map((call) => call.args[0].input);

/** An expression with its placeholders replaced, so that a test can be read. */
function readable(input: {
  UpdateExpression?: string | undefined;
  ConditionExpression?: string | undefined;
  ExpressionAttributeValues?: Record<string, object> | undefined;
}): { update: string; condition: string | undefined } {
  const spell = (expression: string) =>
    expression
      .replace(/:v\d+/g, (placeholder) => {
        const [value] = Object.values(input.ExpressionAttributeValues?.[placeholder] ?? {});
        if (value instanceof Uint8Array) return `<${value.length} bytes>`;
        return Object.hasOwn(Object(value), 'checksum') ? '<info>' : JSON.stringify(value);
      })
      .replace(/#/g, '');
  return {
    update: spell(input.UpdateExpression ?? ''),
    condition: input.ConditionExpression && spell(input.ConditionExpression),
  };
}

describe('commands of a put', () => {
  test('a small snapshot is one conditional update of its head', async () => {
    dynamoDb.on(UpdateItemCommand).resolves({});

    await store.put('agent/k', await textDump('hi'), { ifMatch: ['e1', 'e2'] });

    const [input] = inputsOf();
    expect(dynamoDb.calls()).toHaveLength(1);
    expect(input).toMatchObject({ TableName: 'T', Key: headKey, ReturnValues: 'ALL_OLD' });
    expect(readable(input ?? {})).toEqual({
      update: [
        'SET etag = "E", info = <info>, body = <4 bytes>,',
        'w_me0 = if_not_exists(version, "0") + "1798761600250000000000000"',
        'REMOVE chunks, gone, ttl ADD version "1"',
      ].join(' '),
      condition: [
        'etag IN ("e1", "e2")',
        'NOT info.expiresAt <= "1798761600250"',
        'NOT w_me0 >= "1798761600250000000000000"',
      ].join(' AND '),
    });
    expect(
      Object.values(input?.ExpressionAttributeValues ?? {}).find((value) => value.M !== undefined)?.M,
    ).toEqual({
      v: { N: '1' },
      format: { S: 'json' },
      contentType: { S: 'application/json' },
      encoding: { S: 'identity' },
      bytes: { N: '4' },
      storedBytes: { N: '4' },
      checksum: { B: createHash('sha256').update('"hi"').digest() },
      updatedAt: { N: '1798761600250' },
    });
  });

  test('a large snapshot is announced, written in rows, committed; the time to live stands on every row in epoch seconds', async () => {
    dynamoDb.on(UpdateItemCommand).resolves({});
    dynamoDb.on(PutItemCommand).resolves({});
    const expiresAt = new Date('2027-01-01T00:01:00.999Z');

    await store.put('agent/k', await bytesDump(randomBytesOf(400, 'x')), { ifNoneMatch: '*', expiresAt });

    const names = dynamoDb.calls().map((call) => call.args[0].constructor.name);
    expect(names).toEqual([
      'UpdateItemCommand',
      'PutItemCommand',
      'PutItemCommand',
      'PutItemCommand',
      'UpdateItemCommand',
    ]);
    const set = 'E.3.1798761600250';
    const [announce, commit] = inputsOf().map(readable);
    expect(announce).toEqual({
      update: `ADD sets ["${set}"] SET w_me0 = "1798761600250000000000000" REMOVE ttl, gone`,
      condition: 'attribute_not_exists(etag) AND NOT w_me0 >= "1798761600250000000000000"',
    });
    const puts = dynamoDb.commandCalls(PutItemCommand).map((call) => call.args[0].input);
    expect(new Set(puts.map((put) => put.ConditionExpression))).toEqual(
      new Set(['attribute_not_exists(pk)']),
    );
    const rows = puts.map((put) => put.Item);
    expect(
      rows.map((row) => [row?.pk?.S, row?.sk?.S, row?.body?.B?.length, row?.owner?.S, row?.ttl?.N]),
    ).toEqual([
      ['chunk/E/0', 'chunk', 150, 'agent/k', '1798761660'],
      ['chunk/E/1', 'chunk', 150, 'agent/k', '1798761660'],
      ['chunk/E/2', 'chunk', 100, 'agent/k', '1798761660'],
    ]);
    // The head lives on for a quarter of an hour, for the requests that may still arrive.
    expect(commit?.update).toContain('ttl = "1798762500"');
    expect(commit?.update).toContain(`chunks = "${set}"`);
    expect(commit?.update).toMatch(/REMOVE body, gone ADD version "1"$/);
    expect(commit?.condition).toContain(`contains(sets, "${set}")`);
  });

  test.each([
    ['one update', 100, 1],
    ['announced', 101, 3],
  ])(
    'a snapshot is %s where its data has %i bytes of the 100 that an item holds',
    async (_, size, requests) => {
      dynamoDb.on(UpdateItemCommand).resolves({});
      dynamoDb.on(PutItemCommand).resolves({});

      await store.put('agent/k', await bytesDump(randomBytesOf(size, 'x')));

      expect(dynamoDb.calls()).toHaveLength(requests);
    },
  );

  test('a snapshot of more than 64 MiB is too large, before anything is sent; of so much it is stored', async () => {
    dynamoDb.on(UpdateItemCommand).resolves({});
    dynamoDb.on(PutItemCommand).resolves({});
    const client = new DynamoDBClient({ region: 'eu-central-1' });
    const large = dynamoDbStore({ client, tableName: 'T', chunkMaxBytes: 32 * 1024 * 1024 });
    const dumpOf = async (bytes: number) => ({ ...(await textDump('x')), data: new Uint8Array(bytes) });

    await expect(large.put('agent/k', await dumpOf(64 * 1024 * 1024 + 1))).rejects.toMatchObject({
      code: 'too_large',
    });
    expect(dynamoDb.calls()).toHaveLength(0);
    await large.put('agent/k', await dumpOf(64 * 1024 * 1024));

    expect(dynamoDb.commandCalls(PutItemCommand)).toHaveLength(2);
  });

  test.each([
    ['agent/k', 'heads/agent/1', 'key/k'],
    ['k', 'flat/1', 'key/k'],
    ['/k', 'heads//1', 'key/k'],
    ['agent/', 'heads/agent/2', 'key/'],
  ])('the key %j has an item of its own, for ever', async (key, pk, sk) => {
    dynamoDb.on(UpdateItemCommand).resolves({});

    await store.put(key, await textDump('hi'));

    expect(inputsOf()[0]?.Key).toEqual({ pk: { S: pk }, sk: { S: sk } });
  });

  test.each([
    ['had its answer', {}, {}],
    ['was sent again', { $metadata: { attempts: 2 } }, { rowsInDoubt: { BOOL: true } }],
  ])('a commit tells whether each row %s', async (_, answer, told) => {
    dynamoDb.on(UpdateItemCommand).resolves({});
    dynamoDb.on(PutItemCommand).resolvesOnce({}).resolves(answer);

    await store.put('agent/k', await bytesDump(randomBytesOf(400, 'x')));

    const values = Object.values(inputsOf()[1]?.ExpressionAttributeValues ?? {});
    const { rowsInDoubt } = values.find((value) => value.M !== undefined)?.M ?? {};
    expect({ ...(rowsInDoubt && { rowsInDoubt }) }).toEqual(told);
  });

  test('a row that is there already is in doubt', async () => {
    dynamoDb.on(UpdateItemCommand).resolves({});
    dynamoDb.on(PutItemCommand).rejectsOnce(sdkError('ConditionalCheckFailedException')).resolves({});

    await store.put('agent/k', await bytesDump(randomBytesOf(400, 'x')));

    expect(JSON.stringify(inputsOf()[1])).toContain('"rowsInDoubt":{"BOOL":true}');
  });
});

describe('lanes on an item', () => {
  const lanesOf = (count: number, ageMs: number) =>
    Object.fromEntries(
      Array.from({ length: count }, (_, lane) => [
        `w_other${lane}`,
        { N: `${now.getTime() - ageMs}000000000000` },
      ]),
    );

  test('are removed, unless changed, when there are more than 16 of writers that are long gone', async () => {
    dynamoDb
      .on(UpdateItemCommand)
      .resolvesOnce({ Attributes: lanesOf(17, 900_001) })
      .resolves({});

    await store.put('agent/k', await textDump('hi'));

    const trim = readable(inputsOf()[1] ?? {});
    expect(trim.update).toMatch(/^REMOVE w_other0, w_other1, .*w_other16$/);
    expect(trim.condition).toMatch(/^w_other0 = "1798760700249000000000000" AND .*w_other16 = "[0-9]+"$/);
    expect(inputsOf()).toHaveLength(2);
  });

  test('are removed 64 at a time', async () => {
    dynamoDb
      .on(UpdateItemCommand)
      .resolvesOnce({ Attributes: lanesOf(70, 900_001) })
      .resolves({});

    await store.put('agent/k', await textDump('hi'));

    expect(readable(inputsOf()[1] ?? {}).update.split(', ')).toHaveLength(64);
  });

  test.each([
    [16, 900_001],
    [40, 900_000],
  ])('stay where %i of them are %i ms old', async (count, ageMs) => {
    dynamoDb
      .on(UpdateItemCommand)
      .resolvesOnce({ Attributes: lanesOf(count, ageMs) })
      .resolves({});

    await store.put('agent/k', await textDump('hi'));

    expect(inputsOf()).toHaveLength(1);
  });

  test('a clean-up that fails is no failure of the write', async () => {
    dynamoDb
      .on(UpdateItemCommand)
      .resolvesOnce({ Attributes: lanesOf(17, 900_001) })
      .rejects(sdkError('ThrottlingException'));

    expect(await store.put('agent/k', await textDump('hi'))).toMatchObject({ etag: 'E', version: 1 });
  });
});

describe('commands of get, head, delete and list', () => {
  test('a get is one strongly consistent read', async () => {
    dynamoDb.on(GetItemCommand).resolves({});

    expect(await store.get('agent/k')).toBeUndefined();
    expect(dynamoDb.commandCalls(GetItemCommand).map((call) => call.args[0].input)).toEqual([
      { TableName: 'T', Key: headKey, ConsistentRead: true },
    ]);
  });

  const info = (bytes: number) => ({
    M: {
      ...{ v: { N: '1' }, format: { S: 'bytes' }, contentType: { S: 'a/b' }, encoding: { S: 'identity' } },
      ...{ bytes: { N: String(bytes) }, storedBytes: { N: String(bytes) }, updatedAt: { N: '1' } },
      checksum: { B: new Uint8Array(32) },
    },
  });
  const headOf = (etag: string, rows: number) => ({
    Item: {
      ...{ etag: { S: etag }, version: { N: '7' }, info: info(2 * rows) },
      chunks: { S: `${etag}.${rows}.1` },
    },
  });
  const row = { Item: { body: { B: new Uint8Array(2) } } };

  test('a get whose rows go while it reads starts over, at the snapshot that has replaced them', async () => {
    dynamoDb
      .on(GetItemCommand)
      .resolvesOnce(headOf('e1', 2))
      .resolvesOnce(row)
      .resolvesOnce({})
      .resolvesOnce(headOf('e2', 1))
      .resolves(row);

    const stored = await store.get('agent/k');

    expect(stored).toMatchObject({ etag: 'e2', dump: { data: Buffer.alloc(2) } });
    for (const call of dynamoDb.commandCalls(GetItemCommand))
      expect(call.args[0].input.ConsistentRead).toBe(true);
  });

  test('a get of a snapshot that is replaced at every look gives up after ten', async () => {
    let heads = 0;
    dynamoDb
      .on(GetItemCommand)
      .resolves({})
      .on(GetItemCommand, { Key: headKey })
      .callsFake(() => headOf(`e${++heads}`, 1));

    await expect(store.get('agent/k')).rejects.toMatchObject({ code: 'unavailable' });
    expect(heads).toBe(10);
  });

  test('a snapshot of no bytes may have lost its empty data; what has lost its ETag is damaged, whatever is left', async () => {
    const head = { etag: { S: 'E1' }, version: { N: '7' } };
    dynamoDb.on(GetItemCommand).resolves({ Item: { ...head, info: info(0) } });
    expect(await store.get('agent/k')).toMatchObject({ dump: { data: new Uint8Array() } });

    for (const left of [info(1), { body: { B: new Uint8Array(1) } }, { chunks: { S: 'E1.1.1' } }]) {
      const Item = 'M' in left ? { info: left } : left;
      dynamoDb.on(GetItemCommand).resolves({ Item });
      await expect(store.get('agent/k'), JSON.stringify(Item)).rejects.toMatchObject({ code: 'corrupt' });
    }
  });

  test('a get that does not want what is stored is one read, of an inline snapshot and of one in chunk rows', async () => {
    const head = { etag: { S: 'E1' }, version: { N: '7' } };
    for (const Item of [
      { ...head, info: info(4), body: { B: new Uint8Array(4) } },
      { ...head, info: info(400), chunks: { S: `${'0'.repeat(8)}/3` } },
    ]) {
      dynamoDb.reset();
      dynamoDb.on(GetItemCommand).resolves({ Item });
      const asked: string[] = [];

      const stored = await store.get('agent/k', ({ etag }) => {
        asked.push(etag);
        return false;
      });

      expect(stored).toMatchObject({ etag: 'E1', version: 7 });
      expect(asked).toEqual(['E1']);
      expect(dynamoDb.calls().map((call) => call.args[0].input)).toEqual([
        { TableName: 'T', Key: headKey, ConsistentRead: true },
      ]);
    }
  });

  test('a head reads everything but the data', async () => {
    dynamoDb.on(GetItemCommand).resolves({});

    expect(await store.head('agent/k')).toBeUndefined();
    const [call] = dynamoDb.commandCalls(GetItemCommand);
    const read = call?.args[0].input.ProjectionExpression?.split(', ');
    expect(read).toContain('etag');
    expect(read).not.toContain('body');
  });

  const forget = {
    update: [
      'SET gone = "E", w_me0 = "1798761600250000000000000", ttl = "1798762500"',
      'REMOVE etag, previousEtag, version, info, body, chunks',
    ].join(' '),
    condition: [
      'attribute_exists(etag)',
      'attribute_not_exists(sets)',
      'attribute_not_exists(dead)',
      'NOT w_me0 >= "1798761600250000000000000"',
    ].join(' AND '),
  };

  test('a delete makes a tombstone in one update, and deletes that where nobody else wrote lately', async () => {
    const longAgo = { w_other0: { N: '1798760700249990000000003' } };
    dynamoDb.on(UpdateItemCommand).resolves({ Attributes: { etag: { S: 'e' }, ...longAgo } });
    dynamoDb.on(DeleteItemCommand).resolves({});

    await store.delete('agent/k');

    expect(inputsOf().map(readable)).toEqual([forget]);
    expect(dynamoDb.commandCalls(DeleteItemCommand).map((call) => call.args[0].input)).toEqual([
      {
        TableName: 'T',
        Key: headKey,
        ConditionExpression: [
          'gone = :v0',
          'attribute_not_exists(etag)',
          'attribute_not_exists(#sets)',
          'attribute_not_exists(dead)',
        ].join(' AND '),
        ExpressionAttributeNames: { '#sets': 'sets' },
        ExpressionAttributeValues: { ':v0': { S: 'E' } },
      },
    ]);
  });

  test.each([
    ['somebody else wrote the key within a quarter of an hour', { w_other0: '1798760700250000000000003' }, 1],
    ['the SDK sent it more than once', {}, 2],
  ])('a delete leaves the tombstone when %s', async (_why, lanes, attempts) => {
    const marks = Object.entries(lanes).map(([lane, mark]) => [lane, { N: mark }]);
    dynamoDb.on(UpdateItemCommand).resolves({
      Attributes: { etag: { S: 'e' }, ...Object.fromEntries(marks) },
      $metadata: { attempts },
    });

    await store.delete('agent/k');

    expect(inputsOf().map(readable)).toEqual([forget]);
    expect(dynamoDb.calls()).toHaveLength(1);
  });

  test('a list that has found enough asks no further, though the shard goes on', async () => {
    const item = (key: string) => ({
      ...{ sk: { S: `key/${key}` }, etag: { S: 'e' }, version: { N: '1' }, info: info(1) },
    });
    const goesOn = { pk: { S: 'heads/agent/0' }, sk: { S: 'key/c' } };
    dynamoDb
      .on(QueryCommand)
      .resolvesOnce({})
      .resolves({ Items: ['a', 'b', 'c'].map(item), LastEvaluatedKey: goesOn });

    const page = await store.list({ scope: 'agent', limit: 2 });

    expect(page).toMatchObject({ items: [{ key: 'a' }, { key: 'b' }], next: '1/b' });
    expect(dynamoDb.commandCalls(QueryCommand)).toHaveLength(2);
  });

  test('a list asks each shard once, and goes on after an empty page with a key and ends at an empty key', async () => {
    const empty = { Items: [], LastEvaluatedKey: { pk: { S: 'heads/agent/0' }, sk: { S: 'key/a' } } };
    dynamoDb
      .on(QueryCommand)
      .resolvesOnce(empty)
      .resolvesOnce({ Items: [], LastEvaluatedKey: {} })
      .resolves({ Items: [] });

    expect(await store.list({ scope: 'agent', prefix: 'p', limit: 2 })).toEqual({
      items: [],
      next: undefined,
    });
    const queries = dynamoDb.commandCalls(QueryCommand).map((call) => call.args[0].input);
    expect(queries.map((query) => query.ExpressionAttributeValues)).toEqual(
      [0, 0, 1, 2, 3, 4, 5, 6, 7].map((shard) => ({
        ':v0': { S: `heads/agent/${shard}` },
        ':v1': { S: 'key/p' },
      })),
    );
    expect(queries[1]?.ExclusiveStartKey).toEqual(empty.LastEvaluatedKey);
    expect(queries[0]).toMatchObject({ ConsistentRead: true, Limit: 3 });
  });
});

describe('errors of the SDK', () => {
  test.each([
    ['ProvisionedThroughputExceededException', { throttled: true, retryable: true }],
    ['ThrottlingException', { throttled: true, retryable: true }],
    ['RequestLimitExceeded', { throttled: true, retryable: true }],
    ['InternalServerError', { throttled: false, retryable: true }],
    ['TimeoutError', { throttled: false, retryable: true }],
    ['ECONNREFUSED', { throttled: false, retryable: true }],
    ['AccessDeniedException', { throttled: false, retryable: false }],
    ['ResourceNotFoundException', { throttled: false, retryable: false }],
    ['ValidationException', { throttled: false, retryable: false }],
    ['ExpiredTokenException', { throttled: false, retryable: false }],
  ])('%s is unavailable on every call, never "not found"', async (name, expected) => {
    const error = sdkError(name);
    dynamoDb.onAnyCommand().rejects(error);

    const dump = await textDump('hi');
    for (const call of [
      () => store.get('agent/k'),
      () => store.head('agent/k'),
      () => store.put('agent/k', dump),
      () => store.delete('agent/k'),
      () => store.list({ scope: 'agent', limit: 1 }),
    ]) {
      const thrown: unknown = await call().catch((caught: unknown) => caught);
      expect(thrown).toBeInstanceOf(UnavailableError);
      expect(thrown).toMatchObject({ code: 'unavailable', cause: error, ...expected });
    }
  });

  test('a failed condition is a conflict that names the current ETag', async () => {
    const stored = { etag: { S: 'theirs' }, version: { N: '3' }, previousEtag: { S: 'older' } };
    dynamoDb.on(UpdateItemCommand).rejects(sdkError('ConditionalCheckFailedException'));
    dynamoDb.on(GetItemCommand).resolves({ Item: stored });

    await expect(store.put('agent/k', await textDump('hi'), { ifMatch: ['e1'] })).rejects.toEqual(
      new ConflictError('theirs'),
    );
  });

  test('a read that fails while a conflict is looked into is unavailable, not a conflict', async () => {
    dynamoDb.on(UpdateItemCommand).rejects(sdkError('ConditionalCheckFailedException'));
    dynamoDb.on(GetItemCommand).rejects(sdkError('ThrottlingException'));

    await expect(store.put('agent/k', await textDump('hi'), { ifMatch: ['e1'] })).rejects.toMatchObject({
      code: 'unavailable',
      throttled: true,
    });
  });

  test('a failure that is none of a condition is passed on, after one request', async () => {
    const dump = await textDump('hi');
    for (const call of [() => store.put('agent/k', dump, {}), () => store.delete('agent/k')]) {
      dynamoDb.reset();
      dynamoDb.on(UpdateItemCommand).rejects(sdkError('AccessDeniedException'));

      await expect(call()).rejects.toBeInstanceOf(UnavailableError);
      expect(dynamoDb.calls()).toHaveLength(1);
    }
  });

  test('an expired snapshot is replaced as a first version, and only the one that was found expired', async () => {
    const info = {
      ...{ v: { N: '1' }, format: { S: 'json' }, contentType: { S: 'a/b' }, encoding: { S: 'identity' } },
      ...{ bytes: { N: '4' }, storedBytes: { N: '4' }, updatedAt: { N: '1' } },
      ...{ expiresAt: { N: String(now.getTime()) }, checksum: { B: new Uint8Array(32) } },
    };
    const expired = { etag: { S: 'old' }, version: { N: '7' }, info: { M: info } };
    dynamoDb
      .on(UpdateItemCommand)
      .rejectsOnce(sdkError('ConditionalCheckFailedException'))
      .resolves({ Attributes: { ...expired, body: { B: new Uint8Array(4) } } });
    dynamoDb.on(GetItemCommand).resolves({ Item: expired });

    const receipt = await store.put('agent/k', await textDump('hi'), { ifNoneMatch: '*' });

    expect(receipt).toMatchObject({ version: 1, created: true });
    const [, again] = inputsOf().map(readable);
    expect(again?.condition).toBe('etag = "old" AND NOT w_me0 >= "1798761600250000000000000"');
    expect(again?.update).toContain('version = "1"');
  });

  test('a condition that fails for no reason that is found is tried ten times, then unavailable', async () => {
    dynamoDb.on(UpdateItemCommand).rejects(sdkError('ConditionalCheckFailedException'));
    dynamoDb.on(GetItemCommand).resolves({});

    await expect(store.put('agent/k', await textDump('hi'), {})).rejects.toBeInstanceOf(UnavailableError);
    expect(inputsOf()).toHaveLength(10);
  });

  test('a delete whose condition fails for no reason that is found is tried ten times more, then unavailable', async () => {
    dynamoDb.on(UpdateItemCommand).rejects(sdkError('ConditionalCheckFailedException'));
    dynamoDb.on(GetItemCommand).resolves({ Item: { pk: headKey.pk, etag: { S: 'theirs' } } });

    await expect(store.delete('agent/k')).rejects.toBeInstanceOf(UnavailableError);
    expect(inputsOf()).toHaveLength(11);
  });
});
