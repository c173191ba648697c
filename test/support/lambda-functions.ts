import { createHash, randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { APIGatewayProxyEventV2 } from 'aws-lambda';
import { type Operation, operations } from '../../functions/http/operations.ts';
import { openEmbeddedDynamoDb } from '../../infra/local/embedded-dynamodb.ts';
import type { FunctionName } from '../../infra/service-functions.ts';
import { tables } from '../../lib/dynamodb/tables.ts';
import { routeKeyOf } from './handler-of.ts';
import { bundleOf, type LambdaProcess, lambdaProcess } from './lambda-process.ts';

export interface LambdaFunctions {
  function(name: FunctionName): LambdaProcess | undefined;
  /** Calls the function that an operation's routes lead to, as the gateway does. */
  call(operation: Operation, event: APIGatewayProxyEventV2): ReturnType<LambdaProcess['invoke']>;
  /** The bodies of the messages that were sent to the queue of runs and were not taken yet. */
  takeMessages(): string[];
  end(): Promise<void>;
}

/** The bundles of these functions, each in a process with the memory that Lambda gives it, over one DynamoDB and a queue. */
export async function lambdaFunctions(names: readonly FunctionName[]): Promise<LambdaFunctions> {
  const folder = mkdtempSync(join(tmpdir(), 'dormouse-memory-limit-'));
  const database = await openEmbeddedDynamoDb(undefined);
  const messages: string[] = [];
  const server = createServer(async (request, response) => {
    const target = String(request.headers['x-amz-target']);
    const body = await text(request);
    const { statusCode, body: answer } = target.startsWith('AmazonSQS.')
      ? { statusCode: 200, body: sent(body, messages) }
      : await database.requests(target, body);
    response.writeHead(statusCode, { 'content-type': 'application/x-amz-json-1.0' }).end(answer);
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const env = {
    AWS_ENDPOINT_URL: endpoint,
    ...{ AWS_REGION: 'local', AWS_ACCESS_KEY_ID: 'local', AWS_SECRET_ACCESS_KEY: 'local' },
    ...{ DORMOUSE_RUN_QUEUE_URL: `${endpoint}/queue`, DORMOUSE_LOG_KEY: 'key' },
    ...Object.fromEntries(tables.map((table) => [table.env, database.tableName(table)])),
  };
  const bundles = await Promise.all(names.map((name) => bundleOf(name, folder)));
  const functions = new Map<FunctionName, LambdaProcess>();
  for (const [index, name] of names.entries())
    functions.set(name, await lambdaProcess(bundles[index] as string, folder, env));
  return {
    function: (name) => functions.get(name),
    async call(operation, event) {
      const name = operations[operation].function;
      const process = functions.get(name);
      if (process === undefined) throw new Error(`${name} was not started`);
      return process.invoke({ ...event, routeKey: routeKeyOf(operation) });
    },
    takeMessages: () => messages.splice(0),
    async end() {
      await Promise.all([...functions.values()].map((process) => process.end()));
      server.close();
      await database.close();
      rmSync(folder, { recursive: true });
    },
  };
}

/** What SQS answers to a batch that it takes; those that are to come later are left out. */
function sent(body: string, messages: string[]): string {
  const { Entries } = JSON.parse(body) as {
    Entries: { Id: string; MessageBody: string; DelaySeconds?: number }[];
  };
  for (const { MessageBody, DelaySeconds = 0 } of Entries) if (DelaySeconds === 0) messages.push(MessageBody);
  const Successful = Entries.map(({ Id, MessageBody }) => ({
    ...{ Id, MessageId: randomUUID() },
    MD5OfMessageBody: createHash('md5').update(MessageBody).digest('hex'),
  }));
  return JSON.stringify({ Successful, Failed: [] });
}
