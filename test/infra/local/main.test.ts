import { once } from 'node:events';
import { existsSync, writeFileSync } from 'node:fs';
import { type IncomingMessage, request } from 'node:http';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { npmStart, runToEnd, startUntilReady, temporaryFolder } from './local-process.ts';

const oneLine = /^dormouse: [^\n]+\n$/;

describe('a local server', () => {
  it('says where it is ready, is healthy there, and prints a line for each request', async () => {
    const { url, kill, ended } = await startUntilReady('--memory');

    const health = await fetch(`${url}/_local/health`);
    await (await fetch(`${url}/v1/agents/planner/instances/a%20b`)).text();
    kill('SIGTERM');

    expect(health.status).toBe(200);
    expect(await health.json()).toEqual({ status: 'ok' });
    expect((await ended).stdout).toMatch(/^GET \/v1\/agents\/planner\/instances\/a%20b 404 \d+ ms$/m);
  });

  it('keeps its state in the data folder over a restart, and prints only where it is ready with --quiet', async () => {
    const data = join(temporaryFolder(), 'made', 'on', 'demand');
    const first = await startUntilReady('--data', data);
    const put = await fetch(`${first.url}/v1/agents/planner/instances/k`, { method: 'PUT', body: 'state' });
    first.kill('SIGTERM');
    expect((await first.ended).code).toBe(0);

    const second = await startUntilReady('--data', data, '--quiet');
    const got = await fetch(`${second.url}/v1/agents/planner/instances/k`);

    expect(await got.text()).toBe('state');
    expect(got.headers.get('etag')).toBe(put.headers.get('etag'));
    second.kill('SIGTERM');
    expect((await second.ended).stdout).toMatch(/^Dormouse is ready on [^\n]+\n$/);
  });

  it.each(['SIGINT', 'SIGTERM'] as const)(
    'answers the request under way on %s, then ends with exit code 0',
    async (signal) => {
      const server = await startUntilReady('--memory');
      const put = request(`${server.url}/v1/agents/planner/instances/k`, {
        method: 'PUT',
        headers: { expect: '100-continue' },
      });
      put.flushHeaders();
      await once(put, 'continue');

      server.kill(signal);
      server.kill(signal);
      put.end('the rest of the body');

      const [response] = (await once(put, 'response')) as [IncomingMessage];
      response.resume();
      expect(response.statusCode).toBe(201);
      expect(await server.ended).toMatchObject({ code: 0, stderr: '' });
    },
  );
});

describe('npm start', () => {
  it('takes paths and the port from where its user is, and ends on the signal that npm passes on', async () => {
    const folder = temporaryFolder();
    writeFileSync(
      join(folder, 'agents.ts'),
      `import { defineAgent } from 'dormouse'; export default [defineAgent({ name: 'outsider' })];`,
    );

    const server = await npmStart(folder, '--agents', 'agents.ts', '--data', 'state');
    const agents = await (await fetch(`${server.url}/v1/agents`)).json();
    server.kill('SIGTERM');
    await server.ended;

    expect(agents).toMatchObject({ items: [{ name: 'outsider' }] });
    expect(existsSync(join(folder, 'state'))).toBe(true);
    await vi.waitFor(() => expect(fetch(server.url)).rejects.toThrow());
  });
});

describe('a local server that cannot start says why in one line', () => {
  it('a flag that does not exist is a usage error', async () => {
    const { code, stdout, stderr } = await runToEnd('--nope');

    expect(stderr).toMatch(oneLine);
    expect(stderr).toContain('--nope');
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  });

  it('a port that is in use', async () => {
    const blocker = createServer().listen(0, '127.0.0.1');
    await once(blocker, 'listening');
    const { port } = blocker.address() as AddressInfo;

    const { code, stdout, stderr } = await runToEnd('--memory', '--quiet', '--port', String(port));
    blocker.close();

    expect(stderr).toMatch(oneLine);
    expect(stderr).toContain(`port ${port} is already in use`);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  });

  it('says how it is used when it is asked', async () => {
    const { code, stdout, stderr } = await runToEnd('--help');

    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(/^usage: npm start -- [^\n]*--agents FILE[^\n]*\n$/);
  });

  it('a data folder that another server uses', async () => {
    const data = temporaryFolder();
    await startUntilReady('--data', data);

    const { code, stderr } = await runToEnd('--port', '0', '--data', data);

    expect(stderr).toMatch(oneLine);
    expect(stderr).toContain(`${data} cannot be used: another server is using it`);
    expect(code).toBe(1);
  });

  it('a data folder that is a file', async () => {
    const file = join(temporaryFolder(), 'file');
    writeFileSync(file, '');

    const { code, stderr } = await runToEnd('--port', '0', '--data', file);

    expect(stderr).toMatch(oneLine);
    expect(stderr).toContain(`the data folder ${file} cannot be used`);
    expect(code).toBe(1);
  });
});
