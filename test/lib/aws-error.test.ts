import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { dynamoDbStore } from '../../lib/dynamodb/dynamodb-store.ts';
import { thaw } from '../../lib/persistence/thaw.ts';
import { clientWithFate } from '../support/failing-client.ts';

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

  test('a missing permission, and nothing else that the service says', async () => {
    const role = 'arn:aws:sts::123456789012:assumed-role/worker/worker';
    const table = 'arn:aws:dynamodb:eu-central-1:123456789012:table/T';
    const name = 'AccessDeniedException';
    const denied = Object.assign(
      new Error(
        `User: ${role} is not authorized to perform: dynamodb:GetItem on resource: ${table} because no identity-based policy allows the dynamodb:GetItem action`,
      ),
      { name, $fault: 'client' },
    );
    const { client } = clientWithFate(new DynamoDBClient({ region: 'local', credentials }), () => ({
      applied: false,
      error: denied,
    }));

    expect(await messageOf(client)).toBe(
      'DynamoDB failed (AccessDeniedException: the role lacks the permission dynamodb:GetItem)',
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
