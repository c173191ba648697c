import { join } from 'node:path';
import { DynamoDBClient, PutItemCommand, UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { SendMessageBatchCommand, SQSClient } from '@aws-sdk/client-sqs';
import { mockClient } from 'aws-sdk-client-mock';
import { afterAll, afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { HttpHandler } from '../../functions/http/http-handler.ts';
import { type Operation, operations, routes } from '../../functions/http/operations.ts';
import { projectRoot } from '../../infra/project.ts';
import { type ServiceFunctionDescriptor, serviceFunctions } from '../../infra/service-functions.ts';
import { errorsTable } from '../../lib/dynamodb/tables.ts';
import { environment } from '../../lib/environment.ts';
import { requestedRunId } from '../../lib/runs/run-id.ts';
import { capturedLog } from '../support/captured-log.ts';
import { sdkError } from '../support/failing-client.ts';
import { routeKeyOf } from '../support/handler-of.ts';
import { httpEvent } from '../support/http-event.ts';

const runId = requestedRunId(new Date(0), 'any');
const bodies: Partial<Record<Operation, string>> = {
  hibernate: '{}',
  remember: '{"content":1,"sender":{"id":"ann"}}',
  'start-run': '{"action":"prune-raw-memory"}',
  compact: '{"messageIds":["m"],"summary":"s"}',
  'set-user-data': '1',
  learn: '1',
};
const queries: Partial<Record<Operation, Record<string, string>>> = {
  'forget-messages': { from: '0', to: '1' },
};

/** The local server hands every handler all tables; a deployed function has the names of those it is granted. */
describe('a function with the environment that the stack gives it', () => {
  const dynamoDb = mockClient(DynamoDBClient);
  const sqs = mockClient(SQSClient);
  afterAll(() => {
    dynamoDb.restore();
    sqs.restore();
    vi.resetModules();
  });

  beforeEach(() => {
    vi.resetModules();
    dynamoDb.reset();
    sqs.reset();
    dynamoDb.onAnyCommand().rejects(sdkError('ThrottlingException'));
    vi.stubEnv('AWS_REGION', 'eu-central-1');
    capturedLog();
    // The pauses of the engine, which are by chance.
    vi.spyOn(Math, 'random').mockReturnValue(0);
  });
  afterEach(() => {
    vi.unstubAllEnvs();
    vi.restoreAllMocks();
  });

  /** What the entry exports, loaded with the names of the tables that it is granted. */
  const load = async <Handler>({ entry, access }: ServiceFunctionDescriptor): Promise<Handler> => {
    for (const { table } of access) vi.stubEnv(table.env, `the-${table.id}`);
    const { handler } = (await import(join(projectRoot, entry))) as { handler: Handler };
    return handler;
  };
  const tablesCalled = () =>
    new Set(dynamoDb.calls().map(({ args }) => (args[0].input as { TableName: string }).TableName));
  const tablesOf = (operation: Operation) => {
    const [first] = serviceFunctions[operations[operation].function].access;
    const table = operation === 'list-errors' ? errorsTable : first?.table;
    return new Set(table === undefined || operation === 'list-schedules' ? [] : [`the-${table.id}`]);
  };

  test.each(routes)('$method $path reaches its tables, and no other', async ({ method, path, operation }) => {
    const descriptor = serviceFunctions[operations[operation].function];
    if (descriptor.sendsToRunQueue) {
      sqs.onAnyCommand().resolves({});
      vi.stubEnv(environment.runQueueUrl, 'https://sqs.eu-central-1.amazonaws.com/1/runs');
    }
    const handler = await load<HttpHandler>(descriptor);
    const [body, query] = [bodies[operation], queries[operation]];
    const headers = { 'content-type': 'application/json' };

    const answer = await handler({
      ...httpEvent({ method, headers, ...(body && { body }), ...(query && { query }) }),
      ...{ rawPath: path, routeKey: `${method} ${path}` },
      pathParameters: { agent: 'support', key: 'k', session: 's', identity: 'ann', run: runId },
    });

    const expected = tablesOf(operation);
    expect([answer.statusCode, answer.body]).toEqual([expected.size > 0 ? 429 : 200, expect.any(String)]);
    expect(tablesCalled()).toEqual(expected);
  });

  /** Those that start runs, or hand them on. */
  test.each(['start-run'] as const)(
    '%s reaches the queue that it is told, and its tables',
    async (operation) => {
      // The look at the run that comes later is sent first.
      sqs.on(SendMessageBatchCommand).resolvesOnce({}).rejects(sdkError('RequestThrottled'));
      dynamoDb.onAnyCommand().resolves({});
      let stored: unknown;
      dynamoDb.on(PutItemCommand).callsFake(({ Item }) => {
        if (Item.runStatus !== undefined) stored = Item;
        return {};
      });
      dynamoDb
        .on(UpdateItemCommand)
        .callsFake(({ UpdateExpression }) =>
          UpdateExpression.includes('admitted') ? { Attributes: stored } : {},
        );
      const queueUrl = 'https://sqs.eu-central-1.amazonaws.com/1/runs';
      vi.stubEnv(environment.runQueueUrl, queueUrl);
      const handler = await load<HttpHandler>(serviceFunctions.runs);

      const headers = { 'content-type': 'application/json' };
      const event = httpEvent({ method: 'POST', agent: 'support', headers, body: bodies[operation] ?? '' });
      const answer = await handler({ ...event, routeKey: routeKeyOf(operation) });

      expect([answer.statusCode, answer.body]).toEqual([429, expect.stringContaining('throttled')]);
      const queues = sqs.calls().map(({ args }) => (args[0].input as { QueueUrl?: string }).QueueUrl);
      expect(new Set(queues)).toEqual(new Set([queueUrl]));
      expect(tablesCalled()).toEqual(tablesOf(operation));
    },
  );
});
