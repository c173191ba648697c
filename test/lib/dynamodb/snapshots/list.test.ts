import { afterAll, beforeAll, expect, test } from 'vitest';
import { dynamoDbStore } from '../../../../lib/dynamodb/dynamodb-store.ts';
import type { SnapshotCatalog } from '../../../../lib/persistence/snapshot-store.ts';
import { textDump } from '../../../contracts/snapshot-store-contract.ts';
import { type EmbeddedTable, embeddedTable } from '../../../support/embedded-table.ts';

let table: EmbeddedTable;
let store: SnapshotCatalog;
beforeAll(async () => {
  table = await embeddedTable();
  store = dynamoDbStore({ client: table.client, tableName: table.tableName });
});
afterAll(() => table.close());

test.each(['', '0', '0/', 'x0/user-1', '00/user-1', '1000/user-1', '99/user-1', '0/user-1\n', '-1/user-1'])(
  'a list cannot go on from %j',
  async (after) => {
    await expect(store.list({ scope: 'agent', limit: 5, after })).rejects.toMatchObject({
      code: 'invalid_option',
    });
  },
);

test('a list goes on from a place of its own only: of its scope, its prefix and the shard of the key', async () => {
  const scope = 'lists';
  for (let index = 0; index < 40; index++) await store.put(`${scope}/user-${index}`, await textDump('x'));
  const { next } = await store.list({ scope, limit: 30 });
  const [shard = '', name = ''] = next?.split('/') ?? [];
  const page = (query: object) => store.list({ scope, limit: 30, after: next, ...query });

  expect((await page({})).items).toHaveLength(10);
  for (const query of [
    { prefix: 'other' },
    { prefix: name.slice(1) },
    { after: `${(Number(shard) + 1) % 100}/${name}` },
    { after: `${shard}/${name}x`.repeat(200) },
  ])
    await expect(page(query), JSON.stringify(query)).rejects.toMatchObject({ code: 'invalid_option' });
});
