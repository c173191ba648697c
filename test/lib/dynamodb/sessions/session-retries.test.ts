import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { dynamoDbSessionStore } from '../../../../lib/dynamodb/sessions/session-store.ts';
import { sessionsTable } from '../../../../lib/dynamodb/tables.ts';
import { type EmbeddedTable, embeddedTable } from '../../../support/embedded-table.ts';
import { interruptedClient } from '../../../support/pausing-client.ts';

const at = new Date('2027-01-01T00:00:00.250Z');
let table: EmbeddedTable;
beforeAll(async () => {
  table = await embeddedTable(sessionsTable);
});
afterAll(() => table.close());

const storeOver = (client: DynamoDBClient) => dynamoDbSessionStore(client, table.tableName);
/** As the SDK does it: the first request is applied, its answer is lost, and it is sent again after `meanwhile`. */
const losingFirstAnswer = (meanwhile: () => Promise<unknown> = async () => {}) =>
  storeOver(interruptedClient(table.client, 0, 'delivered twice', meanwhile).client);

test('a registration whose answer was lost created the session, and a second one did not', async () => {
  const first = await losingFirstAnswer().register('a', { id: 's', meta: { n: 1 }, at });
  const later = new Date(at.getTime() + 1);
  const second = await losingFirstAnswer().register('a', { id: 's', meta: { n: 2 }, at: later });

  expect(first.created).toBe(true);
  expect(second).toMatchObject({ created: false, session: { registeredAt: at, meta: { n: 2 } } });
});

test('a retry of a registration does not bring back a session that was deregistered meanwhile', async () => {
  const outcome = await losingFirstAnswer(() => storeOver(table.client).deregister('a', 'r')).register('a', {
    ...{ id: 'r', meta: {}, at },
  });

  expect(outcome).toEqual({
    ...{ created: true, session: { id: 'r', meta: {}, registeredAt: at, lastActiveAt: at } },
  });
  expect(await storeOver(table.client).get('a', 'r')).toBeUndefined();
  expect(await storeOver(table.client).touch('a', 'r', at)).toBe(false);
});

test('a deregistration whose answer was lost says that it was one, and ends no later registration', async () => {
  const store = storeOver(table.client);
  await store.register('a', { id: 'd', meta: {}, at });

  expect(await losingFirstAnswer().deregister('a', 'd')).toBe(true);
  expect(await losingFirstAnswer().deregister('a', 'd')).toBe(false);
  expect(await losingFirstAnswer().deregister('a', 'nobody')).toBe(false);
  await store.register('a', { id: 'd', meta: {}, at });
  const again = () => store.register('a', { id: 'd', meta: { anew: true }, at });
  expect(await losingFirstAnswer(again).deregister('a', 'd')).toBe(true);

  expect(await store.get('a', 'd')).toMatchObject({ meta: { anew: true } });
});

test('a deregistration that was sent again ends no session that is not as it was seen', async () => {
  const store = storeOver(table.client);
  await store.register('a', { id: 'k', meta: { n: 2 }, at });

  expect(await losingFirstAnswer().deregister('a', 'k', { meta: { n: 1 } })).toBe(false);

  expect(await store.get('a', 'k')).toMatchObject({ meta: { n: 2 } });
});
