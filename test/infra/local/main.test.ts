import { once } from 'node:events';
import { existsSync, writeFileSync } from 'node:fs';
import { type IncomingMessage, request } from 'node:http';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import {
  type LocalProcess,
  npmRun,
  npmStart,
  runToEnd,
  startUntilReady,
  temporaryFolder,
} from './local-process.ts';

const oneLine = /^dormouse: [^\n]+\n$/;

/** A PUT whose body is not sent yet, and the rest of it. */
async function halfSent({ url }: LocalProcess): Promise<() => Promise<number | undefined>> {
  const put = request(`${url}/v1/agents/planner/instances/half`, {
    method: 'PUT',
    headers: { expect: '100-continue' },
  });
  put.flushHeaders();
  await once(put, 'continue');
  return async () => {
    put.end('the rest of the body');
    const [response] = (await once(put, 'response')) as [IncomingMessage];
    response.resume();
    return response.statusCode;
  };
}

describe('a local server', () => {
  it('says where it is, logs its requests, has folder and port for itself, and ends on SIGTERM after the request under way', async () => {
    const data = join(temporaryFolder(), 'made', 'on', 'demand');
    const server = await startUntilReady('--data', data);
    const { port } = new URL(server.url);

    const health = await fetch(`${server.url}/_local/health`);
    await (await fetch(`${server.url}/v1/agents/planner/instances/a%20b`)).text();
    const sameFolder = await runToEnd('--port', '0', '--data', data);
    const samePort = await runToEnd('--memory', '--quiet', '--port', port);
    const answer = await halfSent(server);
    server.kill('SIGTERM');
    server.kill('SIGTERM');

    expect(health.status).toBe(200);
    expect(await health.json()).toEqual({ status: 'ok' });
    expect(sameFolder).toEqual({
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(oneLine),
    });
    expect(sameFolder.stderr).toContain(`${data} cannot be used: another server is using it`);
    expect(samePort).toEqual({ code: 1, stdout: '', stderr: expect.stringMatching(oneLine) });
    expect(samePort.stderr).toContain(`port ${port} is already in use`);
    expect(await answer()).toBe(201);
    const { stdout, ...ending } = await server.ended;
    expect(ending).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(/^GET \/v1\/agents\/planner\/instances\/a%20b 404 \d+ ms$/m);
  });

  it('keeps its state over a restart, ends on SIGINT alike, and prints only where it is ready with --quiet', async () => {
    const data = temporaryFolder();
    const first = await startUntilReady('--data', data);
    const put = await fetch(`${first.url}/v1/agents/planner/instances/k`, { method: 'PUT', body: 'state' });
    const answer = await halfSent(first);
    first.kill('SIGINT');
    first.kill('SIGINT');
    expect(await answer()).toBe(201);
    expect(await first.ended).toMatchObject({ code: 0, stderr: '' });

    const second = await startUntilReady('--data', data, '--quiet');
    const got = await fetch(`${second.url}/v1/agents/planner/instances/k`);

    expect(await got.text()).toBe('state');
    expect(got.headers.get('etag')).toBe(put.headers.get('etag'));
    second.kill('SIGTERM');
    expect((await second.ended).stdout).toMatch(/^Dormouse is ready on [^\n]+\n$/);
  });
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

describe('npm run dev', () => {
  it('starts anew at each change of what the agents file imports, also after one that cannot be used', async () => {
    const folder = temporaryFolder();
    const name = (value: string) =>
      writeFileSync(join(folder, 'name.ts'), `export const name: string = ${value};`);
    writeFileSync(
      join(folder, 'agents.ts'),
      `import { defineAgent } from 'dormouse';
       import { name } from './name.ts';
       export default [defineAgent({ name })];`,
    );
    name(`'one'`);
    const { kill, ended, printed } = await npmRun('dev', folder, '--memory', '--agents', 'agents.ts');
    const urls = () => [...printed().stdout.matchAll(/ready on (\S+)/g)].map(([, url]) => url);
    const served = async () => {
      const url = urls().at(-1);
      const { items } = (await (await fetch(`${url}/v1/agents`)).json()) as { items: { name: string }[] };
      return items.map((agent) => agent.name);
    };
    expect(await served()).toEqual(['one']);

    name('');
    await vi.waitFor(() => expect(printed().stderr).toContain('name.ts:1:28: '), 10_000);
    name(`'two'`);

    await vi.waitFor(() => expect(urls()).toHaveLength(2), 10_000);
    expect(await served()).toEqual(['two']);
    kill('SIGTERM');
    const { stderr } = await ended;
    expect(stderr).toMatch(/^dormouse: [^\n]+name\.ts:1:28: Unexpected ";"\n$/);
    await vi.waitFor(() => expect(served()).rejects.toThrow());
  });
});

describe('a local server that cannot start says why in one line', () => {
  it('a flag that does not exist is a usage error', async () => {
    const { code, stdout, stderr } = await runToEnd('--nope');

    expect(stderr).toMatch(oneLine);
    expect(stderr).toContain('--nope');
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  });

  it('says how it is used when it is asked', async () => {
    const { code, stdout, stderr } = await runToEnd('--help');

    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(/^usage: npm start -- [^\n]*--agents FILE[^\n]*\n$/);
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
