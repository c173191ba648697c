import { openEmbeddedDynamoDb } from '../../infra/local/embedded-dynamodb.ts';
import { errorsTable, runsTable, sessionsTable, snapshotsTable } from '../../lib/dynamodb/tables.ts';

const served = [snapshotsTable, sessionsTable, errorsTable, runsTable];

/** The embedded DynamoDB in a process of its own, so that its work and its memory are not counted as the caller's. */
const { endpoint, tableName } = await openEmbeddedDynamoDb(undefined, served);
process.send?.({
  endpoint,
  tableNames: Object.fromEntries(served.map((table) => [table.id, tableName(table)])),
});
process.on('disconnect', () => process.exit());
