import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { apiJson, apiRequest } from '../../../infra/rehearsal/api-request.ts';
import type { AwsCalls } from '../../../infra/rehearsal/aws-calls.ts';
import { queueCalls } from '../../../infra/rehearsal/queues.ts';
import { until } from '../../../infra/rehearsal/until.ts';

let server: Server;
let endpoint: string;
let answer: { status: number; text: string };
let arrived: { method: string; url: string; headers: IncomingMessage['headers']; body: string };

beforeAll(async () => {
  server = createServer((request, response) => {
    let body = '';
    request.on('data', (part) => {
      body += part;
    });
    request.on('end', () => {
      arrived = { method: request.method ?? '', url: request.url ?? '', headers: request.headers, body };
      response.writeHead(answer.status).end(answer.text);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => server.close());
beforeEach(() => {
  answer = { status: 200, text: '{"items":[]}' };
});

test('a request to the API bears its host and, of a caller, a signature', async () => {
  const credentials = { accessKeyId: 'KEY', secretAccessKey: 'secret' };
  const target = { endpoint, host: 'api.example', credentials };

  await apiJson(target, { method: 'POST', path: '/v1/agents', body: { action: 'visit' } });

  expect(arrived).toMatchObject({ method: 'POST', url: '/v1/agents', body: '{"action":"visit"}' });
  expect(arrived.headers.host).toBe('api.example');
  expect(arrived.headers.authorization).toMatch(/Credential=KEY\/.*execute-api/);
});

test('a request of nobody is not signed, and its error is an answer', async () => {
  answer = { status: 403, text: 'no' };
  const target = { endpoint, host: 'api.example' };

  expect(await apiRequest(target, { path: '/v1/agents' })).toEqual({ status: 403, text: 'no' });
  expect(arrived.headers.authorization).toBeUndefined();
  await expect(apiJson(target, { path: '/v1/agents' })).rejects.toThrow('GET /v1/agents: 403 no');
});

test('waiting ends with the first answer, or without one when the time is up', async () => {
  const answers = [undefined, 'there'];

  expect(await until(async () => answers.shift(), 10_000)).toBe('there');
  expect(await until(async () => undefined, -1)).toBeUndefined();
});

test('looking into a queue leaves its messages there', async () => {
  const calls: unknown[] = [];
  const json: AwsCalls['json'] = async (...call) => {
    calls.push(call);
    return { Messages: [{ Body: 'one' }, { Body: 'two' }] };
  };
  const queue = queueCalls({ json } as AwsCalls, 'http://queue');

  expect(await queue.bodies()).toEqual(['one', 'two']);
  expect(calls).toEqual([
    [
      'sqs',
      'AmazonSQS.ReceiveMessage',
      { QueueUrl: 'http://queue', MaxNumberOfMessages: 10, VisibilityTimeout: 0 },
    ],
  ]);
});
