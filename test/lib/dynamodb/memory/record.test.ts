import { DeleteItemCommand } from '@aws-sdk/client-dynamodb';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parseRecord, withData } from '../../../../lib/dynamodb/memory/record.ts';
import { dynamoDbMemoryStore } from '../../../../lib/dynamodb/memory/store.ts';
import { sessionsTable } from '../../../../lib/dynamodb/tables.ts';
import { CorruptError } from '../../../../lib/errors.ts';
import { createMemory } from '../../../../lib/memory/create-memory.ts';
import { type EmbeddedTable, embeddedTable } from '../../../support/embedded-table.ts';
import { randomBytesOf } from '../../../support/random-bytes.ts';

/* What is read of an item of a message, of this release or an earlier one, whole or damaged. */

const place = 'message/101798761600250.000000000000006';
const info = {
  M: {
    ...{ v: { N: '1' }, format: { S: 'json' }, contentType: { S: 'a/b' }, encoding: { S: 'identity' } },
    ...{
      bytes: { N: '1' },
      storedBytes: { N: '1' },
      updatedAt: { N: '1' },
      checksum: { B: Buffer.alloc(32) },
    },
  },
};
const item = { sk: { S: 'message/m' }, place: { S: place }, info };

test('a record that was stored before calls had numbers had arrived when its own had been taken', () => {
  expect(parseRecord(item).arrival).toBe(7);
  expect(parseRecord(item).info().arrival).toBe(7);
  expect(parseRecord({ ...item, arrival: { N: '3' } }).info().arrival).toBe(3);
  expect(parseRecord({ ...item, place: { S: 'limbo/101798761600250' } }).arrival).toBeUndefined();
  expect(parseRecord({ ...item, place: { S: 'message/101798761600250' } }).info().arrival).toBe(0);
});

test('what was compacted is known by its time and its digest, and by nothing less', () => {
  const goneOf = (gone: object) => parseRecord({ sk: item.sk, gone: { M: gone as never } }).gone;
  const [at, digest] = [{ N: '5' }, { B: Buffer.from('d') }];

  expect(goneOf({ at, digest })?.compacted).toEqual({ at: 5, digest: digest.B });
  for (const part of [{ at }, { digest }, {}]) expect(goneOf(part)?.compacted).toBeUndefined();
});

test('a record without its data is corrupt', () => {
  expect(() => withData(parseRecord(item), undefined)).toThrow(CorruptError);
  expect(withData(parseRecord(item), Buffer.from('1')).dump.data).toEqual(Buffer.from('1'));
});

let table: EmbeddedTable;
beforeAll(async () => {
  table = await embeddedTable(sessionsTable);
});
afterAll(() => table.close());

test('a large message that has lost a chunk row is corrupt, and not gone', async () => {
  const { client, tableName } = table;
  const memory = createMemory('support', 's1', undefined, {
    stores: { memory: dynamoDbMemoryStore({ client, tableName }) },
  });
  const content = randomBytesOf(100_000, 'large').toString('base64');
  await memory.remember({ id: 'm', content, sender: { id: 'ann' } });
  const [chunk] = (await table.rows()).filter(({ sk }) => sk?.S === 'chunk');
  const { pk = { S: '' }, sk = { S: '' } } = chunk ?? {};

  await client.send(new DeleteItemCommand({ TableName: tableName, Key: { pk, sk } }));

  await expect(memory.recent()).rejects.toMatchObject({ code: 'corrupt' });
});
