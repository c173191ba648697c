import { dynamoDbMemoryStore } from '../../lib/dynamodb/memory/store.ts';
import { sessionsTable } from '../../lib/dynamodb/tables.ts';
import { inMemoryMemoryStore } from '../../lib/in-memory/memory-store.ts';
import { embeddedTable } from '../support/embedded-table.ts';
import { describeMemoryPort } from './memory-port-contract.ts';
import { describeMemoryStore, type MemoryStoreUnderTest } from './memory-store-contract.ts';

const overDynamoDb = async (): Promise<MemoryStoreUnderTest> => {
  const { client, tableName, close } = await embeddedTable(sessionsTable);
  return { open: (options) => dynamoDbMemoryStore({ client, tableName, ...options }), close };
};
const inMemory = async (): Promise<MemoryStoreUnderTest> => ({ open: inMemoryMemoryStore });

for (const describeContract of [describeMemoryStore, describeMemoryPort]) {
  describeContract('the DynamoDB memory store', overDynamoDb);
  describeContract('the in-memory memory store', inMemory);
}
