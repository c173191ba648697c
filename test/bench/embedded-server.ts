import { openEmbeddedDynamoDb } from '../../infra/local/embedded-dynamodb.ts';
import { errorsTable, runsTable, sessionsTable, snapshotsTable } from '../../lib/dynamodb/tables.ts';
import { overHttp } from '../support/dynamodb-over-http.ts';

const served = [snapshotsTable, sessionsTable, errorsTable, runsTable];

/** The embedded DynamoDB in a process of its own, so that its work and its memory are not counted as the caller's. */
const { requests, tableName } = await openEmbeddedDynamoDb(undefined, served);
const { endpoint } = await overHttp(requests);
process.send?.({
  endpoint,
  tableNames: Object.fromEntries(served.map((table) => [table.id, tableName(table)])),
});
process.on('disconnect', () => process.exit());
