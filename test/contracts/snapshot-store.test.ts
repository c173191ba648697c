import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { dynamoDbStore } from '../../lib/dynamodb/dynamodb-store.ts';
import { memoryStore } from '../../lib/in-memory/snapshot-store.ts';
import { fileStore } from '../../lib/persistence/file-store.ts';
import { embeddedTable } from '../support/embedded-table.ts';
import { describeSnapshotStore } from './snapshot-store-contract.ts';

describeSnapshotStore('the DynamoDB store', async () => {
  const { client, tableName, close } = await embeddedTable();
  return { open: (options) => dynamoDbStore({ client, tableName, ...options }), close };
});

describeSnapshotStore('the file store', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'dormouse-files-'));
  return {
    open: (options) => fileStore(directory, options),
    close: () => rm(directory, { recursive: true }),
  };
});

// One store for all tests, as the others share a table or a folder; its clock is the one of the test at hand.
describeSnapshotStore('the memory store', async () => ({ open: (options) => memoryStore(options) }));
