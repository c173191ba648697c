import { once } from 'node:events';
import { type IncomingMessage, type RequestOptions, request } from 'node:http';
import { json } from 'node:stream/consumers';
import { afterEach, describe, expect, it } from 'vitest';
import { type LocalServer, type LocalServerOptions, startLocalServer } from '../../../infra/local/server.ts';
import { temporaryFolder } from './local-process.ts';

const servers: LocalServer[] = [];
afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.close()));
});

async function start(options: Partial<LocalServerOptions> = {}): Promise<LocalServer> {
  const server = await startLocalServer({ port: 0, quiet: true, ...options });
  servers.push(server);
  return server;
}

function put(
  { url }: LocalServer,
  key: string,
  body: string | Uint8Array<ArrayBuffer>,
  headers: Record<string, string> = {},
) {
  return fetch(`${url}/v1/agents/planner/instances/${key}`, { method: 'PUT', body, headers });
}

async function get({ url }: LocalServer, key: string) {
  const response = await fetch(`${url}/v1/agents/planner/instances/${key}`);
  return response.status === 200 ? response.text() : response.status;
}

/** A request whose target goes out as it is given: fetch would normalise it. */
async function send({ url }: LocalServer, options: RequestOptions) {
  const { hostname, port } = new URL(url);
  const message = await new Promise<IncomingMessage>((resolve, reject) => {
    request({ hostname, port, ...options }, resolve)
      .on('error', reject)
      .end();
  });
  return { status: message.statusCode, headers: message.headers, body: await json(message) };
}

describe('starting and closing', () => {
  it('keeps servers of one process apart', async () => {
    const [one, other] = await Promise.all([start(), start({ agents: [] })]);
    await Promise.all([put(one, 'k', 'one'), put(other, 'k', 'other')]);

    const states = await Promise.all([get(one, 'k'), get(other, 'k')]);
    const agents = await (await fetch(`${other.url}/v1/agents`)).json();

    expect(states).toEqual(['one', 'other']);
    expect(agents).toEqual({ items: [] });
  });

  it('finds the state again in its folder', async () => {
    const data = temporaryFolder();
    const first = await start({ data });
    await put(first, 'k', 'state');
    await first.close();

    const second = await start({ data });

    expect(await get(second, 'k')).toBe('state');
  });

  it('can be closed twice', async () => {
    const server = await start();

    await server.close();
    await server.close();

    await expect(fetch(server.url)).rejects.toThrow();
  });

  it('leaves the data folder free when the port is taken', async () => {
    const data = temporaryFolder();
    const port = Number(new URL((await start()).url).port);

    await expect(start({ port, data })).rejects.toThrow('EADDRINUSE');

    await start({ data });
  });
});

describe('the gateway', () => {
  it('gives every answer a request id of its own', async () => {
    const server = await start();

    const ids = await Promise.all(
      ['a', 'b'].map(async (key) => (await put(server, key, '')).headers.get('apigw-requestid')),
    );

    expect(new Set(ids).size).toBe(2);
    expect(ids).not.toContain(null);
  });

  it('refuses a path that is not percent-encoded UTF-8', async () => {
    const server = await start();

    const { status, headers, body } = await send(server, { path: '/v1/agents/planner/instances/%zz' });

    expect(status).toBe(400);
    expect(headers['content-type']).toBe('application/problem+json');
    expect(body).toMatchObject({ code: 'invalid_request', status: 400 });
    expect(headers['apigw-requestid']).toBe((body as { requestId: string }).requestId);
  });

  it.each(['a/../b', '..', 'a//b', 'a/', 'a%3Fb', 'a%23b', 'a%2F%2Fb', '%2e%2e'])(
    'passes on what a client does not normalise, for the handlers to refuse: %s',
    async (key) => {
      const server = await start();
      const path = `/v1/agents/planner/instances/${key}`;

      const answers = await Promise.all(
        ['PUT', 'GET', 'DELETE'].map((method) => send(server, { path, method })),
      );

      for (const { status, body } of answers) {
        expect({ status, body }).toMatchObject({ status: 400, body: { code: 'invalid_key' } });
      }
    },
  );

  it('hands what no route takes to the fallback', async () => {
    const server = await start();

    const unknown = await send(server, { path: '/_local/nothing' });
    const method = await send(server, { path: '/v1/agents', method: 'PATCH' });

    expect(unknown).toMatchObject({ status: 404, body: { code: 'not_found' } });
    expect(method).toMatchObject({ status: 405, headers: { allow: 'GET' } });
  });

  it('stores nothing of a request whose caller hangs up, and serves on', async () => {
    const server = await start();
    const upload = request(`${server.url}/v1/agents/planner/instances/k`, {
      method: 'PUT',
      headers: { expect: '100-continue', 'content-length': 10 },
    });
    upload.on('error', () => {}).flushHeaders();
    await once(upload, 'continue');

    upload.write('half');
    upload.destroy();
    await new Promise((resolve) => upload.on('close', resolve));

    expect(await get(server, 'k')).toBe(404);
  });
});

describe('the limits', () => {
  const mb = 1024 * 1024;

  it('refuses a request of more than 10 MB that announces its length', async () => {
    const server = await start();

    const response = await put(server, 'k', new Uint8Array(10 * mb + 1));

    expect(response.status).toBe(413);
    expect(await response.json()).toMatchObject({ code: 'too_large', size: 10 * mb + 1, limit: 10 * mb });
    expect(await get(server, 'k')).toBe(404);
  });

  it('refuses a request of more than 10 MB that does not, and serves on', async () => {
    const server = await start();
    let left = 30;
    const body = new ReadableStream<Uint8Array>({
      pull(controller) {
        if (left-- > 0) controller.enqueue(new Uint8Array(mb));
        else controller.close();
      },
    });

    const response = await fetch(`${server.url}/v1/agents/planner/instances/k`, {
      method: 'PUT',
      body,
      duplex: 'half',
    } as RequestInit);

    expect(response.status).toBe(413);
    expect(await response.json()).toMatchObject({ code: 'too_large', limit: 10 * mb });
    expect((await put(server, 'k', 'small')).status).toBe(201);
  });

  it('refuses a request that Lambda could not be given', async () => {
    const server = await start();

    // Five million bytes are more than six in base64.
    const response = await put(server, 'k', new Uint8Array(5_000_000));

    expect(response.status).toBe(413);
    expect(await response.json()).toMatchObject({ code: 'too_large', limit: 6 * mb });
  });
});
