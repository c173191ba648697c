import { dynamoDbMemoryStore } from '../../lib/dynamodb/memory-store.ts';
import { sessionsTable } from '../../lib/dynamodb/tables.ts';
import { inMemoryMemoryStore } from '../../lib/memory/in-memory-memory-store.ts';
import { embeddedTable } from '../support/embedded-table.ts';
import { describeMemoryStore } from './memory-store-contract.ts';

describeMemoryStore('the DynamoDB memory store', async () => {
  const { client, tableName, close } = await embeddedTable(sessionsTable);
  return { open: (options) => dynamoDbMemoryStore({ client, tableName, ...options }), close };
});

describeMemoryStore('the in-memory memory store', async () => ({ open: inMemoryMemoryStore }));
