import { UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { compactedKnownForSecs } from '../../../../lib/defaults.ts';
import { dynamoDbMemoryStore } from '../../../../lib/dynamodb/memory/store.ts';
import { sessionsTable } from '../../../../lib/dynamodb/tables.ts';
import { packMessage } from '../../../../lib/memory/message-codec.ts';
import { type EmbeddedTable, embeddedTable } from '../../../support/embedded-table.ts';
import { randomBytesOf } from '../../../support/random-bytes.ts';
import { testClock } from '../../../support/test-clock.ts';

/* What a compaction leaves of a message, so that the same one sent again is known: over DynamoDB. */

const clock = testClock();
let table: EmbeddedTable;
let sessions = 0;
let scope: { agent: string; session: string };
beforeAll(async () => {
  table = await embeddedTable(sessionsTable);
});
afterAll(() => table.close());
beforeEach(() => {
  scope = { agent: 'agent', session: `s${++sessions}` };
});

const store = () =>
  dynamoDbMemoryStore({
    ...{ client: table.client, tableName: table.tableName, clock: clock.now },
    ...{ inlineMaxBytes: 200, chunkMaxBytes: 200 },
  });
const append = async (id: string, content: unknown, retentionSecs?: number) => {
  const packed = packMessage({ id, content }, { id: 'ann' }, 'message');
  const records = [{ id, at: undefined, dump: await packed.dump, digest: packed.digest }];
  const request = { records, receivedAt: clock.now().getTime(), retentionSecs, requestId: undefined };
  return store().append(scope, 'message', request);
};
const compact = async (...ids: string[]) => store().removeCompacted(scope, ids, await store().moment(scope));
const rowOf = async (id: string) =>
  (await table.rows()).find(
    ({ pk, sk }) => pk?.S === `memory/agent~${scope.session}` && sk?.S === `message/${id}`,
  );
const change = async (id: string, update: string) => {
  const { pk = { S: '' }, sk = { S: '' } } = (await rowOf(id)) ?? {};
  const Key = { pk, sk };
  await table.client.send(
    new UpdateItemCommand({ TableName: table.tableName, Key, UpdateExpression: update }),
  );
};

test('one is known for as long as it would have been kept, and for a year where that is for ever', async () => {
  await append('kept', 1);
  await append('short', 1, 100);
  await compact('kept', 'short');
  const now = clock.now().getTime();

  const until = async (id: string) => Number((await rowOf(id))?.fencedUntil?.N);
  expect(await until('short')).toBe(now + 100_000);
  expect(await until('kept')).toBe(now + compactedKnownForSecs * 1000);
});

test('one of a release that kept no digests is known by its content, in its item or in rows', async () => {
  const large = randomBytesOf(600, 'large').toString('base64');
  const contents = { small: 'small', large };
  for (const [id, content] of Object.entries(contents)) {
    await append(id, content);
    await change(id, 'REMOVE digest, arrival');
  }

  expect(await compact('small', 'large')).toBe(2);

  for (const [id, content] of Object.entries(contents)) {
    const { digest } = packMessage({ id, content }, { id: 'ann' }, 'message');
    const [again] = await append(id, content);
    expect(again && 'compacted' in again && Buffer.from(again.compacted.digest)).toEqual(Buffer.from(digest));
  }
});

test('one that has expired is not compacted, and not forgotten', async () => {
  await append('old', 1, 10);
  clock.advanceSecs(10);

  expect(await compact('old')).toBe(0);
  expect(await store().forgottenAmong(scope, ['old'])).toEqual([]);
});

test('of those that a forgotten capsule names, only what it stood for becomes forgotten', async () => {
  for (const id of ['gone', 'there', 'compacted']) await append(id, 1);
  await store().forgetIds(scope, 'message', ['gone'], await store().beginForget(scope));
  await compact('compacted');
  const ids = ['gone', 'there', 'compacted', 'nobody'];
  expect(await store().forgottenAmong(scope, ids)).toEqual(['gone']);
  await store().releaseCompacted(scope, ids, await store().beginForget(scope));

  expect(await store().forgottenAmong(scope, ids)).toEqual(['gone', 'compacted']);
  expect(await rowOf('there')).toHaveProperty('body');
});

test('one that was pruned is not forgotten, also when a capsule that is forgotten names it', async () => {
  await append('pruned', 1);
  await store().prune(scope, 'message', clock.now().getTime());

  await store().releaseCompacted(scope, ['pruned'], await store().beginForget(scope));

  expect(await store().forgottenAmong(scope, ['pruned'])).toEqual([]);
});
