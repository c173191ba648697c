import { dynamoDbRuns } from '../../lib/dynamodb/dynamodb-runs.ts';
import { runsTable } from '../../lib/dynamodb/tables.ts';
import { inMemoryRuns } from '../../lib/in-memory/runs.ts';
import { embeddedTable } from '../support/embedded-table.ts';
import { describeRunStore } from './run-store-contract.ts';

describeRunStore('the DynamoDB run store', async () => {
  const { client, tableName, close } = await embeddedTable(runsTable);
  return { ...dynamoDbRuns({ client, runsTable: tableName }), close };
});

describeRunStore('the in-memory run store', async () => inMemoryRuns());
