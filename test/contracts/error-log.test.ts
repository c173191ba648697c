import { dynamoDbCounters } from '../../lib/dynamodb/sessions/counters.ts';
import { dynamoDbErrorLog } from '../../lib/dynamodb/sessions/error-log.ts';
import { errorsTable } from '../../lib/dynamodb/tables.ts';
import { inMemoryCounters } from '../../lib/in-memory/counters.ts';
import { inMemoryErrorLog } from '../../lib/in-memory/error-log.ts';
import { embeddedTable } from '../support/embedded-table.ts';
import { describeErrorLog } from './error-log-contract.ts';

describeErrorLog('DynamoDB', async () => {
  const { client, tableName, close } = await embeddedTable(errorsTable);
  let written = 0;
  // Which errors also trim is decided by their ids: the same ones in every run.
  const newUnique = () => `u${written++}`;
  return {
    open: () => ({
      errors: dynamoDbErrorLog({ client, tableName, newUnique }),
      counters: dynamoDbCounters(client, tableName),
    }),
    close,
  };
});

describeErrorLog('memory', async () => {
  const stores = { errors: inMemoryErrorLog(), counters: inMemoryCounters() };
  return { open: () => stores };
});
