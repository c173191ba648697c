import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import type { TableDescriptor } from '../../lib/dynamodb/tables.ts';

export interface EmbeddedProcess {
  readonly client: DynamoDBClient;
  tableName(table: TableDescriptor): string;
}

/** Works with an empty DynamoDB in a process of its own, which ends with the work. */
export async function withEmbeddedProcess<T>(work: (database: EmbeddedProcess) => Promise<T>): Promise<T> {
  // Which Node.js the SDK supports next says nothing about a measure.
  process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED ??= 'true';
  const server = fork(fileURLToPath(new URL('embedded-server.ts', import.meta.url)), {
    execArgv: ['--import', 'tsx'],
  });
  try {
    const [{ endpoint, tableNames }] = await once(server, 'message');
    const client = new DynamoDBClient({
      endpoint,
      region: 'us-east-1',
      credentials: { accessKeyId: 'bench', secretAccessKey: 'bench' },
    });
    return await work({ client, tableName: ({ id }) => tableNames[id] });
  } finally {
    server.kill();
  }
}
