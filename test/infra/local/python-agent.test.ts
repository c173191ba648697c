import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect, onTestFinished, test, vi } from 'vitest';
import { startLocalServer } from '../../../infra/local/server.ts';
import { projectRoot } from '../../../infra/project.ts';
import { defineAgent, scheduleDescriptor, webhook } from '../../../lib/index.ts';
import { signingSecret } from '../../support/webhook-receiver.ts';

const python = spawnSync('python3', ['--version']).status === 0;
if (!python && process.env.CI) throw new Error('python3 is missing, which the agent in Python needs');

/** The program of docs/examples, told where the API is, on a port of its own. Resolves its address. */
async function pythonAgent(api: string): Promise<string> {
  const file = join(projectRoot, 'docs/examples/compacting_agent.py');
  const child = spawn('python3', [file, '0'], {
    env: { ...process.env, DORMOUSE_URL: api, DIGEST_SECRET: signingSecret },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  const [line] = await once(createInterface(child.stdout), 'line');
  return `http://127.0.0.1:${/^ready on port (\d+)$/.exec(line)?.[1]}`;
}

test.skipIf(!python)('an agent in Python compacts its sessions each night', { timeout: 60_000 }, async () => {
  vi.stubEnv('DIGEST_SECRET', signingSecret);
  onTestFinished(() => void vi.unstubAllEnvs());
  let address = '';
  const agents = [
    defineAgent({
      name: 'snake',
      actions: {
        // Its port is known once it has been told the server's.
        compact: (session, context) =>
          webhook({ url: `${address}/compact`, secret: 'DIGEST_SECRET' })(session, context),
      },
      schedules: [scheduleDescriptor('nightly-compaction', '0 3 * * *', 'compact')],
    }),
  ];
  const server = await startLocalServer({ port: 0, quiet: true, agents });
  onTestFinished(() => server.close());
  address = await pythonAgent(server.url);

  const call = async (method: string, path: string, body?: unknown) => {
    const headers = { 'content-type': 'application/json' };
    const request = { method, ...(body !== undefined && { headers, body: JSON.stringify(body) }) };
    const response = await fetch(`${server.url}${path}`, request);
    // biome-ignore lint/suspicious/noExplicitAny: each line looks at what it expects.
    return (await response.json()) as any;
  };
  const sessions = '/v1/agents/snake/sessions';
  /** Fires the schedule, and resolves the results of its jobs by session. */
  const night = async (date: string) => {
    await call('POST', `/_local/schedules/nightly-compaction/fire?time=${date}T03:00:00Z`);
    const { items } = await call('GET', '/v1/agents/snake/runs');
    const run = `/v1/agents/snake/runs/${items[0].runId}`;
    await vi.waitFor(async () => expect((await call('GET', run)).status).toBe('completed'), 30_000);
    const jobs: { sessionId: string; result: unknown }[] = (await call('GET', `${run}/jobs`)).items;
    return Object.fromEntries(jobs.map(({ sessionId, result }) => [sessionId, result]));
  };
  const old = (index: number) => ({
    ...{ id: `m${index}`, content: `word ${index}`, sender: { id: 'ann' } },
    timestamp: Date.now() - 10 * 86_400_000 + index,
  });

  for (const session of ['long', 'fresh']) await call('PUT', `${sessions}/${session}`, {});
  for (const from of [0, 100, 200]) {
    const messages = Array.from({ length: from === 200 ? 10 : 100 }, (_, index) => old(from + index));
    await call('POST', `${sessions}/long/messages`, messages);
  }
  const fresh = { id: 'now', content: 'hello', sender: { id: 'ann' } };
  for (const session of ['long', 'fresh']) await call('POST', `${sessions}/${session}/messages`, fresh);

  expect(await night('2027-01-01')).toEqual({ long: { compacted: 210 }, fresh: { compacted: 0 } });

  const { items: capsules } = await call('GET', `${sessions}/long/capsules`);
  expect(capsules).toMatchObject([
    { messageCount: 200, previousId: null },
    { messageCount: 210, previousId: capsules[0].id },
  ]);
  const words = capsules[1].summary.split('\n');
  expect(words).toEqual(Array.from({ length: 210 }, (_, index) => `ann: word ${index}`));
  expect((await call('GET', `${sessions}/long/messages`)).items).toMatchObject([{ id: 'now' }]);

  expect(await night('2027-01-02')).toEqual({ long: { compacted: 0 }, fresh: { compacted: 0 } });

  const unsigned = await fetch(`${address}/compact`, { method: 'POST', body: '{}' });
  expect(unsigned.status).toBe(401);
});
