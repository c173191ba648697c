import { createServer, type IncomingMessage, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import type { APIGatewayProxyStructuredResultV2 } from 'aws-lambda';
import { afterEach, expect, it } from 'vitest';
import { reply } from '../../../infra/local/reply.ts';

const closers: (() => void)[] = [];
afterEach(() => {
  for (const close of closers.splice(0)) close();
});

async function answerTo(method: string, result: APIGatewayProxyStructuredResultV2) {
  const server = createServer((incoming, response) => {
    reply(response, incoming.method ?? '', 'request-1', result);
  });
  closers.push(() => server.close());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const message = await new Promise<IncomingMessage>((resolve, reject) => {
    request({ host: '127.0.0.1', port, method, agent: false }, resolve).on('error', reject).end();
  });
  return { status: message.statusCode, headers: message.headers, body: await buffer(message) };
}

it('sends a text body as UTF-8, with its length and the request id', async () => {
  const { status, headers, body } = await answerTo('GET', {
    statusCode: 201,
    headers: { 'content-type': 'application/json', etag: '"x"', 'x-count': 3 },
    body: '"é🔑"',
  });

  expect(status).toBe(201);
  expect(body.toString()).toBe('"é🔑"');
  expect(headers).toMatchObject({
    'content-type': 'application/json',
    'content-length': '8',
    etag: '"x"',
    'x-count': '3',
    'apigw-requestid': 'request-1',
  });
});

it('sends the bytes of a base64 body', async () => {
  const bytes = Buffer.from([0, 255, 254, 13, 10, 128]);

  const { body, headers } = await answerTo('GET', {
    statusCode: 200,
    body: bytes.toString('base64'),
    isBase64Encoded: true,
  });

  expect(body).toEqual(bytes);
  expect(headers['content-length']).toBe('6');
});

it('sends each cookie in a header of its own', async () => {
  const { headers } = await answerTo('GET', { statusCode: 200, cookies: ['a=1', 'b=2; Path=/'], body: '' });

  expect(headers['set-cookie']).toEqual(['a=1', 'b=2; Path=/']);
});

it.each([204, 304])('sends no body with %i', async (statusCode) => {
  const { status, headers, body } = await answerTo('GET', {
    statusCode,
    headers: { etag: '"x"' },
    body: 'ignored',
  });

  expect(status).toBe(statusCode);
  expect(body).toHaveLength(0);
  expect(headers).not.toHaveProperty('content-length');
  expect(headers.etag).toBe('"x"');
});

it('answers HEAD without a body, keeping the length that the handler gave', async () => {
  const { body, headers } = await answerTo('HEAD', {
    statusCode: 200,
    headers: { 'content-length': '1234' },
    body: '',
  });

  expect(body).toHaveLength(0);
  expect(headers['content-length']).toBe('1234');
});

it('answers HEAD with the length of a body that it leaves out', async () => {
  const { body, headers } = await answerTo('HEAD', { statusCode: 404, body: '{"code":"not_found"}' });

  expect(body).toHaveLength(0);
  expect(headers['content-length']).toBe('20');
});
