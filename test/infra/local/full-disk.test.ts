import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { expect, it, vi } from 'vitest';
import { type LocalProcess, startUntilReady, temporaryFolder } from './local-process.ts';

const bytes = 150_000;
/** More than LevelDB takes before it opens a new log. */
const writesMax = 80;

const urlOf = ({ url }: LocalProcess, key: string) => `${url}/v1/agents/planner/instances/${key}`;

async function put(server: LocalProcess, key: string) {
  const response = await fetch(urlOf(server, key), { method: 'PUT', body: randomBytes(bytes) });
  await response.arrayBuffer();
  return response;
}

async function statusesOf(server: LocalProcess, keys: readonly string[]): Promise<number[]> {
  const statuses: number[] = [];
  for (const key of keys) {
    const response = await fetch(urlOf(server, key));
    expect((await response.arrayBuffer()).byteLength, key).toBe(bytes);
    statuses.push(response.status);
  }
  return statuses;
}

// Linux sets the limits of a process that runs; that of file sizes is met as a full disk is.
it.runIf(process.platform === 'linux').each([
  ['file sizes', '--fsize', () => 2_000_000],
  ['file descriptors', '--nofile', (pid: number) => readdirSync(`/proc/${pid}/fd`).length],
] as const)(
  'when its limit of %s is reached, writes are 503, reads go on, and it recovers without a restart',
  async (_name, limit, reached) => {
    const data = temporaryFolder();
    const server = await startUntilReady('--data', data, '--quiet');
    const setLimit = (value: number | string) =>
      execFileSync('prlimit', ['--pid', String(server.pid), `${limit}=${value}:`]);
    const kept: string[] = [];
    await put(server, 'first');
    setLimit(reached(server.pid));

    let refused: Response | undefined;
    for (let index = 0; index < writesMax && refused === undefined; index++) {
      const response = await put(server, `k${index}`);
      if (response.status === 201) kept.push(`k${index}`);
      else refused = response;
    }
    const alsoRefused = await put(server, 'again');
    const readWhileFull = await statusesOf(server, kept);
    setLimit(limit === '--nofile' ? 1024 : 'unlimited');
    await vi.waitFor(async () => expect((await put(server, 'later')).status).toBe(201), 10_000);
    await statusesOf(server, [...kept, 'later']);
    server.kill('SIGTERM');
    const { code, stderr } = await server.ended;
    const again = await startUntilReady('--data', data, '--quiet');
    await statusesOf(again, ['first', ...kept, 'later']);

    expect(refused?.status).toBe(503);
    expect(refused?.headers.get('retry-after')).toMatch(/^\d+$/);
    expect(alsoRefused.status).toBe(503);
    expect(new Set(readWhileFull)).toEqual(new Set([200]));
    expect(code).toBe(0);
    expect(stderr).toMatch(
      /^dormouse: nothing can be stored \([^\n]+\)[^\n]+\ndormouse: what is written is stored again\n$/,
    );
  },
  120_000,
);
