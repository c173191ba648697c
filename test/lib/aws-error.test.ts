import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { dynamoDbStore } from '../../lib/dynamodb/dynamodb-store.ts';
import { thaw } from '../../lib/persistence/thaw.ts';

const credentials = { accessKeyId: 'a', secretAccessKey: 'b' };
const messageOf = async (client: DynamoDBClient) => {
  const found = await thaw({ store: dynamoDbStore({ tableName: 'T', client }) }, 'support', 'a-secret-key');
  return found.status === 'error' ? found.error.message : found.status;
};

describe('what is wrong on this side is named, with what to set', () => {
  afterEach(() => {
    vi.unstubAllEnvs();
  });

  test('no region', async () => {
    for (const name of ['AWS_REGION', 'AWS_DEFAULT_REGION', 'AWS_PROFILE']) vi.stubEnv(name, undefined);
    vi.stubEnv('AWS_CONFIG_FILE', '/dev/null');
    vi.stubEnv('AWS_SHARED_CREDENTIALS_FILE', '/dev/null');

    expect(await messageOf(new DynamoDBClient({ credentials }))).toMatch(/Region is missing.*AWS_REGION/);
  });

  test('no credentials', async () => {
    const provider = async () => {
      throw Object.assign(new Error('Could not load credentials from any providers'), {
        name: 'CredentialsProviderError',
      });
    };

    expect(await messageOf(new DynamoDBClient({ region: 'eu-central-1', credentials: provider }))).toMatch(
      /Could not load credentials.*AWS_PROFILE/,
    );
  });

  test('an address where nobody listens', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    const { port } = server.address() as AddressInfo;
    await new Promise((resolve) => server.close(resolve));
    const endpoint = `http://127.0.0.1:${port}`;

    const message = await messageOf(
      new DynamoDBClient({ region: 'local', endpoint, credentials, maxAttempts: 1 }),
    );

    expect(message).toContain(`ECONNREFUSED 127.0.0.1:${port}`);
    expect(message).not.toContain('a-secret-key');
  });
});
