import { DeleteItemCommand, UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { dynamoDbStore } from '../../../../lib/dynamodb/dynamodb-store.ts';
import { ConflictError, CorruptError } from '../../../../lib/errors.ts';
import { hibernate } from '../../../../lib/persistence/hibernate.ts';
import { thaw } from '../../../../lib/persistence/thaw.ts';
import { bytesDump } from '../../../contracts/snapshot-store-contract.ts';
import { type EmbeddedTable, embeddedTable } from '../../../support/embedded-table.ts';
import { leftByTtl } from '../../../support/left-by-ttl.ts';
import { randomBytesOf } from '../../../support/random-bytes.ts';

describe('a damaged snapshot', () => {
  let table: EmbeddedTable;
  let keys = 0;
  let key: string;

  beforeAll(async () => {
    table = await embeddedTable();
  });
  afterAll(() => table.close());
  beforeEach(() => {
    key = `k${++keys}`;
  });

  const store = () => dynamoDbStore({ client: table.client, tableName: table.tableName });
  const rowsOf = async () =>
    (await table.rows()).filter((row) => row.sk?.S === `key/${key}` || row.owner?.S === `agent/${key}`);
  const change = async (
    attribute: string,
    value: object,
    isRow = (row: Record<string, { S?: string }>) => row.sk?.S !== 'chunk',
  ) => {
    const names = attribute.split('.');
    const row = (await rowsOf()).find((candidate) => isRow(candidate as never));
    await table.client.send(
      new UpdateItemCommand({
        TableName: table.tableName,
        Key: { pk: row?.pk as never, sk: row?.sk as never },
        UpdateExpression: `SET ${names.map((_name, index) => `#n${index}`).join('.')} = :v`,
        ExpressionAttributeNames: Object.fromEntries(names.map((name, index) => [`#n${index}`, name])),
        ExpressionAttributeValues: { ':v': value as never },
      }),
    );
  };

  const remove = async (attribute: string, isRow?: Parameters<typeof change>[2]) => {
    await change(attribute, { S: 'to be removed' }, isRow);
    const row = (await rowsOf()).find((candidate) => candidate[attribute]?.S === 'to be removed');
    await table.client.send(
      new UpdateItemCommand({
        TableName: table.tableName,
        Key: { pk: row?.pk as never, sk: row?.sk as never },
        UpdateExpression: `REMOVE ${attribute}`,
      }),
    );
  };

  const damages: Record<string, { size: number; damage: () => Promise<unknown> }> = {
    'one byte of its data flipped': {
      size: 5_000,
      damage: async () => {
        const [row] = await rowsOf();
        const body = Buffer.from(row?.body?.B ?? []);
        body[2_000] = (body[2_000] ?? 0) ^ 1;
        await change('body', { B: body });
      },
    },
    'its data cut short': { size: 5_000, damage: () => change('body', { B: Buffer.from('ab') }) },
    'its encoding unknown': { size: 5_000, damage: () => change('info.encoding', { S: 'zstd-9' }) },
    'its format unknown': { size: 5_000, damage: () => change('info.format', { S: 'pickle' }) },
    'a format version of the future': { size: 5_000, damage: () => change('info.v', { N: '2' }) },
    'a recorded size that is not its own': { size: 5_000, damage: () => change('info.bytes', { N: '4999' }) },
    'its data gone': { size: 5_000, damage: () => remove('body') },
    'its ETag gone': { size: 5_000, damage: () => remove('etag') },
    'the data of a chunk row gone': {
      size: 900_000,
      damage: () => remove('body', (row) => row.sk?.S === 'chunk'),
    },
    'its information gone': { size: 5_000, damage: () => change('info', { M: {} }) },
    'its information of another type': { size: 5_000, damage: () => change('info', { S: 'x' }) },
    'its version not whole': { size: 5_000, damage: () => change('version', { N: '1.5' }) },
    'its version negative': { size: 5_000, damage: () => change('version', { N: '-1' }) },
    'its version gone': { size: 5_000, damage: () => change('version', { S: 'three' }) },
    'one chunk row missing': {
      size: 900_000,
      damage: async () => {
        const row = (await rowsOf()).find(({ pk, sk }) => sk?.S === 'chunk' && pk?.S?.endsWith('/1'));
        await table.client.send(
          new DeleteItemCommand({
            TableName: table.tableName,
            Key: { pk: row?.pk as never, sk: row?.sk as never },
          }),
        );
      },
    },
    'one chunk row changed': {
      size: 900_000,
      damage: () => change('body', { B: Buffer.alloc(393_216) }, (row) => row.sk?.S === 'chunk'),
    },
  };

  for (const [name, { size, damage }] of Object.entries(damages)) {
    test(`with ${name} is corrupt: never absent, never replaced by a create, and can be overwritten`, async () => {
      const created = await hibernate({ store: store() }, 'agent', key, randomBytesOf(size, 'state'));
      await damage();
      const before = await rowsOf();

      const found = await thaw({ store: store() }, 'agent', key);
      expect(found).toMatchObject({ status: 'error', error: { code: 'corrupt' } });
      expect(found.status === 'error' && found.error).toBeInstanceOf(CorruptError);
      if (name === 'its ETag gone') return;
      const create = store().put(`agent/${key}`, await bytesDump(new Uint8Array(3)), { ifNoneMatch: '*' });
      await expect(create).rejects.toEqual(new ConflictError(created.status === 'ok' ? created.etag : ''));
      expect(await rowsOf()).toEqual(before);

      if (name.startsWith('its version')) return;
      const healed = await hibernate({ store: store() }, 'agent', key, { fresh: true });
      expect(healed).toMatchObject({ status: 'ok', version: 2 });
      expect(await thaw({ store: store() }, 'agent', key)).toMatchObject({
        status: 'ok',
        agent: { fresh: true },
      });
      expect(await rowsOf()).toHaveLength(1);
    });
  }

  test('can be forgotten', async () => {
    await hibernate({ store: store() }, 'agent', key, randomBytesOf(900_000, 'state'));
    await damages['one chunk row missing']?.damage();

    await store().delete(`agent/${key}`);

    expect(await thaw({ store: store() }, 'agent', key)).toEqual({ status: 'not_found' });
    expect(leftByTtl(await rowsOf(), new Date())).toEqual([]);
  });
});
