import { once } from 'node:events';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type LocalServer, startLocalServer } from '../../../infra/local/server.ts';

let server: LocalServer;
let port: string;
beforeAll(async () => {
  server = await startLocalServer({ port: 0, quiet: true, agents: [] });
  port = new URL(server.url).port;
});
afterAll(() => server.close());

/** Sends lines as they are, PORT replaced, and resolves all that comes back until the connection ends. */
async function send(...lines: string[]): Promise<string> {
  const socket = connect(Number(port), '127.0.0.1');
  await once(socket, 'connect');
  // As simple clients do, it looks for an answer when all is sent.
  await new Promise<void>((resolve, reject) => {
    socket.on('error', reject).write(lines.join('\r\n').replaceAll('PORT', port), () => resolve());
  });
  return text(socket);
}

const host = 'Host: 127.0.0.1:PORT';
const health = 'GET /_local/health HTTP/1.1';
const instance = '/v1/agents/planner/instances';

describe('what cannot be read as a request is a problem answer', () => {
  it.each([
    ['no HTTP', 400, ['\u0016\u0003\u0001', '']],
    ['a method that is none', 400, ['get /v1/agents HTTP/1.1', host, '', '']],
    ['a target with a space', 400, ['GET /v1/agents/a b HTTP/1.1', host, '', '']],
    ['another version of HTTP', 400, ['GET /v1/agents HTTP/9.9', host, '', '']],
    ['a header without a colon', 400, [health, host, 'nothing', '', '']],
    ['a header with a null byte', 400, [health, host, 'x: a\u0000b', '', '']],
    ['a length that is no number', 400, [`PUT ${instance}/k HTTP/1.1`, host, 'Content-Length: 0x7', '', '']],
    [
      'two lengths',
      400,
      [`PUT ${instance}/k HTTP/1.1`, host, 'Content-Length: 1', 'Content-Length: 2', '', ''],
    ],
    ['a broken chunk', 400, [`PUT ${instance}/k HTTP/1.1`, host, 'Transfer-Encoding: chunked', '', 'zz', '']],
    ['no Host', 400, [health, 'Connection: close', '', '']],
    ['headers of 17 KB', 431, [health, host, `x: ${'x'.repeat(17 * 1024)}`, '', '']],
  ])('%s', async (_case, status, lines) => {
    const answer = await send(...lines);

    const [head = '', body = ''] = answer.split('\r\n\r\n');
    expect(head.split('\r\n')[0]).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
    expect(head).toMatch(/^content-type: application\/problem\+json$/im);
    const problem = JSON.parse(body);
    expect(problem).toMatchObject({ status, code: 'invalid_request', type: expect.any(String) });
    expect(head).toMatch(new RegExp(`^apigw-requestid: ${problem.requestId}$`, 'im'));
    expect(head).toMatch(new RegExp(`^content-length: ${Buffer.byteLength(body)}$`, 'im'));
  });
});

it('does not pass over a header that comes after two thousand others', async () => {
  const many = Array.from({ length: 2_500 }, () => 'x:');
  const put = [`PUT ${instance}/many HTTP/1.1`, host, ...many, 'If-Match: "other"', 'Connection: close'];

  expect(await send(...put, 'Content-Length: 1', '', '1')).toMatch(/^HTTP\/1\.1 412 /);
});

it('takes an expectation that it does not know as if it were not there', async () => {
  const put = [`PUT ${instance}/expected HTTP/1.1`, host, 'Expect: a-miracle', 'Connection: close'];

  expect(await send(...put, 'Content-Length: 1', '', '1')).toMatch(/^HTTP\/1\.1 201 /);
});

it('works on the requests of a connection one after another, however they are sent', async () => {
  const put = [
    `PUT ${instance}/turn HTTP/1.1`,
    host,
    'Content-Type: application/json',
    'Content-Length: 1',
    '',
    '1',
  ];
  const get = [`GET ${instance}/turn HTTP/1.1`, host, '', ''];
  const remove = [`DELETE ${instance}/turn HTTP/1.1`, host, '', ''];
  const last = [`GET ${instance}/turn HTTP/1.1`, host, 'Connection: close', '', ''];

  const answers = await send([put, get, remove, get, put, last].map((lines) => lines.join('\r\n')).join(''));

  expect(answers.match(/(?<=HTTP\/1\.1 )\d{3}/g)).toEqual(['201', '200', '204', '404', '201', '200']);
});

it.each([
  ['too large', `PUT ${instance}/large HTTP/1.1`, host, '413'],
  ['for another server', `PUT ${instance}/large HTTP/1.1`, 'Host: evil.example', '403'],
])(
  'has its answer reach a client that sends on, and wants the connection closed: %s',
  async (_case, start, named, status) => {
    const body = 'x'.repeat(16 * 1024 * 1024);

    const answer = await send(start, named, 'Connection: close', `Content-Length: ${body.length}`, '', body);

    expect(answer.slice(9, 12)).toBe(status);
    expect(answer).toMatch(/"requestId":"[^"]+"/);
  },
);
