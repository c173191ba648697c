import { openEmbeddedDynamoDb } from '../../infra/local/embedded-dynamodb.ts';
import { snapshotsTable } from '../../lib/dynamodb/tables.ts';

/** The embedded DynamoDB in a process of its own, so that its work is not counted as the caller's. */
const { endpoint, tableName } = await openEmbeddedDynamoDb(undefined);
process.send?.({ endpoint, tableName: tableName(snapshotsTable) });
process.on('disconnect', () => process.exit());
