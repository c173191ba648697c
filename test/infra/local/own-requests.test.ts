import { once } from 'node:events';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type LocalServer, startLocalServer } from '../../../infra/local/server.ts';
import { defineAgent } from '../../../lib/agents/define-agent.ts';
import { scheduleDescriptor } from '../../../lib/schedules/schedule-descriptor.ts';

let server: LocalServer;
let port: string;
beforeAll(async () => {
  const schedules = [scheduleDescriptor('nightly', '0 2 * * *', 'digest')];
  const agents = [defineAgent({ name: 'support', actions: { digest: () => null }, schedules })];
  server = await startLocalServer({ port: 0, quiet: true, agents });
  port = new URL(server.url).port;
});
afterAll(() => server.close());

/** Sends lines as they are, PORT replaced. A browser would set these headers itself. */
async function send(start: string, ...headers: string[]) {
  const socket = connect(Number(port), '127.0.0.1');
  await once(socket, 'connect');
  const lines = [start, ...headers, 'Connection: close', 'Content-Length: 0', '', ''];
  socket.write(lines.join('\r\n').replaceAll('PORT', port));
  const answer = await text(socket);
  return { status: Number(answer.split(' ')[1]), answer };
}

const health = 'GET /_local/health HTTP/1.1';
const own = 'Host: 127.0.0.1:PORT';

describe('the local server answers', () => {
  it.each([
    ['its address', health, own],
    ['its name', health, 'Host: localhost:PORT'],
    ['its name in capitals', health, 'HOST: LocalHost:PORT'],
    ['its IPv6 address', health, 'Host: [::1]:PORT'],
    ['HTTP/1.0 with a Host', 'GET /_local/health HTTP/1.0', own],
    ['a target with its address', 'GET http://127.0.0.1:PORT/_local/health HTTP/1.1', own],
    ['a page of its own', health, own, 'Origin: http://127.0.0.1:PORT', 'Sec-Fetch-Site: same-origin'],
    ['what is typed into a browser', health, own, 'Sec-Fetch-Site: none'],
  ])('a request to %s', async (_case, start, ...headers) => {
    expect((await send(start, ...headers)).status).toBe(200);
  });
});

const fire = 'POST /_local/schedules/nightly/fire HTTP/1.1';

describe('the local server refuses with 403', () => {
  it.each([
    ['another name, as after DNS rebinding', health, 'Host: evil.example:PORT'],
    ['another name without a port', health, 'Host: evil.example'],
    ['a name that only begins as its own', health, 'Host: localhost.evil.example:PORT'],
    ['a name that only ends as its own', health, 'Host: evil-localhost:PORT'],
    ['an address with a user', health, 'Host: 127.0.0.1:PORT@evil.example'],
    ['another port', health, 'Host: localhost:1'],
    ['no port', health, 'Host: localhost'],
    ['two hosts', health, own, 'Host: evil.example'],
    ['an empty host', health, 'Host:'],
    ['HTTP/1.0 without a host', 'GET /_local/health HTTP/1.0'],
    ['a target elsewhere', 'GET http://evil.example/_local/health HTTP/1.1', own],
    ['a target with a user', 'GET http://127.0.0.1:PORT@evil.example/_local/health HTTP/1.1', own],
    ['a page of another origin', health, own, 'Origin: http://evil.example'],
    ['a page of another port', health, own, 'Origin: http://127.0.0.1:1'],
    ['a page over https', health, own, 'Origin: https://127.0.0.1:PORT'],
    ['a sandboxed page', health, own, 'Origin: null'],
    ['what a page of another site embeds', health, own, 'Sec-Fetch-Site: cross-site'],
    ['what a page of another port embeds', health, own, 'Sec-Fetch-Site: same-site'],
    ['a form that fires a schedule', fire, own, 'Origin: http://evil.example', 'Content-Type: text/plain'],
    ['a write', 'PUT /v1/agents/a/instances/k HTTP/1.1', own, 'Origin: http://evil.example'],
    ['a preflight', 'OPTIONS /v1/agents HTTP/1.1', own, 'Origin: http://evil.example'],
  ])('%s', async (_case, start, ...headers) => {
    const { status, answer } = await send(start, ...headers);

    expect(status).toBe(403);
    expect(answer).toContain('"code":"forbidden"');
    expect(answer).not.toMatch(/access-control/i);
  });

  it('and answers a request without a Host, which HTTP/1.1 does not have, with 400', async () => {
    expect((await send(health)).status).toBe(400);
  });
});

it('that listens elsewhere answers to that name, and its loopback names', async () => {
  const elsewhere = await startLocalServer({ port: 0, host: '127.0.0.2', quiet: true });
  const everywhere = await startLocalServer({ port: 0, host: '0.0.0.0', quiet: true });
  const everywherePort = new URL(everywhere.url).port;

  const statuses = await Promise.all([
    fetch(`${elsewhere.url}/_local/health`),
    fetch(`${everywhere.url}/_local/health`),
    fetch(`http://127.0.0.3:${everywherePort}/_local/health`),
  ]);
  await Promise.all([elsewhere.close(), everywhere.close()]);

  expect(elsewhere.url).toMatch(/^http:\/\/127\.0\.0\.2:/);
  expect(statuses.map(({ status }) => status)).toEqual([200, 200, 200]);
});

it('offers its database on no port', async () => {
  const { hostname } = (await server.dynamoDb.config.endpoint?.().then((endpoint) => endpoint)) ?? {};

  expect(hostname).toBe('embedded.invalid');
});
