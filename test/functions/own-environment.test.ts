import { join } from 'node:path';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { mockClient } from 'aws-sdk-client-mock';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { HttpHandler } from '../../functions/http/http-handler.ts';
import { projectRoot } from '../../infra/project.ts';
import { serviceFunctions } from '../../infra/service-functions.ts';
import { type Route, routes } from '../../lib/http/routes.ts';
import { sdkError } from '../support/failing-client.ts';
import { httpEvent } from '../support/http-event.ts';

const bodies: Partial<Record<Route['operation'], string>> = {
  hibernate: '{}',
  remember: '{"content":1,"sender":{"id":"ann"}}',
};

/** The local server hands every handler all tables; a deployed function has the names of those it is granted. */
describe('a function with the environment that the stack gives it', () => {
  const dynamoDb = mockClient(DynamoDBClient);

  beforeEach(() => {
    vi.resetModules();
    dynamoDb.reset();
    dynamoDb.onAnyCommand().rejects(sdkError('ThrottlingException'));
    vi.stubEnv('AWS_REGION', 'eu-central-1');
    vi.stubEnv('POWERTOOLS_LOG_LEVEL', 'SILENT');
  });
  afterEach(() => {
    vi.unstubAllEnvs();
  });

  test.each(routes)('$method $path reaches its tables, and no other', async ({ method, path, operation }) => {
    const { entry, access } = serviceFunctions[operation];
    for (const { table } of access) vi.stubEnv(table.env, `the-${table.id}`);
    const { handler } = (await import(join(projectRoot, entry))) as { handler: HttpHandler };
    const query = operation === 'forget-messages' ? { query: { from: '0', to: '1' } } : {};
    const body = bodies[operation] === undefined ? {} : { body: bodies[operation] };
    const event = httpEvent({ method, headers: { 'content-type': 'application/json' }, ...query, ...body });

    const answer = await handler({
      ...event,
      rawPath: path,
      pathParameters: { agent: 'planner', key: 'k', session: 's' },
    });

    expect([answer.statusCode, answer.body]).toEqual([access.length > 0 ? 429 : 200, expect.any(String)]);
    const named = dynamoDb.calls().map(({ args }) => (args[0].input as { TableName: string }).TableName);
    expect(new Set(named)).toEqual(new Set(access.map(({ table }) => `the-${table.id}`)));
  });
});
