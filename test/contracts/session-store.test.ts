import { dynamoDbSessionStore } from '../../lib/dynamodb/sessions/session-store.ts';
import { sessionsTable } from '../../lib/dynamodb/tables.ts';
import { inMemorySessionStore } from '../../lib/in-memory/session-store.ts';
import { embeddedTable } from '../support/embedded-table.ts';
import { describeSessionStore } from './session-store-contract.ts';

describeSessionStore('the DynamoDB session store', async () => {
  const { client, tableName, close } = await embeddedTable(sessionsTable);
  return { store: dynamoDbSessionStore(client, tableName), close };
});

describeSessionStore('the in-memory session store', async () => ({ store: inMemorySessionStore() }));
