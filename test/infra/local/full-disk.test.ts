import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { Agent, type IncomingHttpHeaders, type IncomingMessage, request } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { afterAll, expect, it, vi } from 'vitest';
import { type LocalProcess, startUntilReady, temporaryFolder } from './local-process.ts';

const bytes = 150_000;
/** More than LevelDB takes before it opens a new log. */
const writesMax = 80;

const urlOf = ({ url }: LocalProcess, key: string) => `${url}/v1/agents/planner/instances/${key}`;

/** One connection for all: the server has no descriptor left for another one. */
const agent = new Agent({ keepAlive: true, maxSockets: 1 });
afterAll(() => agent.destroy());

interface Answer {
  readonly status: number | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly length: number;
}

async function call(server: LocalProcess, method: string, key: string, body?: Buffer): Promise<Answer> {
  const sent = request(urlOf(server, key), { method, agent }).end(body);
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  const { length } = await buffer(response);
  return { status: response.statusCode, headers: response.headers, length };
}

const put = (server: LocalProcess, key: string) => call(server, 'PUT', key, randomBytes(bytes));

async function expectAll(server: LocalProcess, keys: readonly string[]): Promise<void> {
  for (const key of keys)
    expect(await call(server, 'GET', key), key).toMatchObject({ status: 200, length: bytes });
}

interface Limit {
  readonly option: string;
  /** Reached at once, or soon. Asked before each write: a file that was open for a moment leaves a descriptor free. */
  readonly low: (pid: number) => number;
  readonly high: number | 'unlimited';
}

function lowestFreeDescriptor(pid: number): number {
  const open = new Set(readdirSync(`/proc/${pid}/fd`));
  let free = 0;
  while (open.has(String(free))) free++;
  return free;
}

const limits: readonly Limit[] = [
  { option: '--nofile', low: lowestFreeDescriptor, high: 1024 },
  { option: '--fsize', low: () => 2_000_000, high: 'unlimited' },
];

/** Writes until one is refused, and until one is stored again. Resolves the keys that were stored. */
async function reachAndLift(server: LocalProcess, { option, low, high }: Limit): Promise<string[]> {
  const setLimit = (value: number | string) =>
    execFileSync('prlimit', ['--pid', String(server.pid), `${option}=${value}:`]);
  const kept: string[] = [];
  let refused: Answer | undefined;
  for (let index = 0; index < writesMax && refused === undefined; index++) {
    setLimit(low(server.pid));
    const response = await put(server, `${option}-${index}`);
    if (response.status === 201) kept.push(`${option}-${index}`);
    else refused = response;
  }
  expect(refused?.status).toBe(503);
  expect(refused?.headers['retry-after']).toMatch(/^\d+$/);
  expect((await put(server, 'again')).status).toBe(503);
  await expectAll(server, ['first', ...kept]);

  setLimit(high);
  const later = `${option}-later`;
  await vi.waitFor(async () => expect((await put(server, later)).status).toBe(201), 10_000);
  return [...kept, later];
}

// Linux sets the limits of a process that runs; that of file sizes is met as a full disk is.
it.runIf(process.platform === 'linux')(
  'when its limit of file descriptors, or of file sizes, is reached, writes are 503, reads go on, and it recovers without a restart',
  async () => {
    const data = temporaryFolder();
    const server = await startUntilReady('--data', data, '--quiet');
    await put(server, 'first');
    const kept: string[] = ['first'];
    for (const limit of limits) {
      kept.push(...(await reachAndLift(server, limit)));
      await expectAll(server, kept);
    }
    server.kill('SIGTERM');
    const { code, stderr } = await server.ended;
    const again = await startUntilReady('--data', data, '--quiet');

    await expectAll(again, kept);
    expect(code).toBe(0);
    const outage = String.raw`dormouse: nothing can be stored \([^\n]+\)[^\n]+\ndormouse: what is written is stored again\n`;
    expect(stderr).toMatch(new RegExp(`^(${outage}){${limits.length}}$`));
  },
  120_000,
);
