import { randomInt } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, vi } from 'vitest';
import { type LocalProcess, startUntilReady, temporaryFolder } from './local-process.ts';

const killRounds = Number(process.env.DORMOUSE_KILL_ROUNDS ?? 1);
const sessions = 100;

interface Run {
  runId: string;
  status: string;
  sessions: number;
  ok: number;
  failed: number;
}

/** An agents file whose action takes a moment, and writes down each visit before it. Every tenth session fails. */
function slowAgents(folder: string, visits: string): string {
  const file = join(folder, 'agents.ts');
  writeFileSync(visits, '');
  writeFileSync(
    file,
    `import { appendFileSync } from 'node:fs';
     import { defineAgent, failed } from 'dormouse';
     export default [defineAgent({
       name: 'slow',
       actions: {
         visit: async ({ id }, { runId }) => {
           appendFileSync(${JSON.stringify(visits)}, runId + ' ' + id + '\\n');
           await new Promise((resolve) => setTimeout(resolve, 20));
           return id.endsWith('0') ? failed('every tenth') : id;
         },
       },
       limits: { sessionConcurrency: 2 },
     })];`,
  );
  return file;
}

async function call<T>({ url }: LocalProcess, method: string, path: string, body?: object): Promise<T> {
  const response = await fetch(`${url}/v1/agents/slow/${path}`, {
    method,
    ...(body && { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
  });
  expect(response.status).toBeLessThan(300);
  return (await response.json()) as T;
}

const allRuns = async (server: LocalProcess) =>
  (await call<{ items: Run[] }>(server, 'GET', 'runs?limit=1000')).items;

// A SIGINT under a request is tried with every `npm test` (main.test.ts), one under a run where many kills are asked for.
it.each([
  ['SIGKILL', killRounds] as const,
  ...(killRounds > 1 ? [['SIGINT', Math.min(killRounds, 3)] as const] : []),
])(
  'runs that %s cut off, again and again, come to their ends with exact totals',
  async (signal, rounds) => {
    const folder = temporaryFolder();
    const visits = join(folder, 'visits');
    const args = ['--data', join(folder, 'data'), '--agents', slowAgents(folder, visits), '--quiet'];
    const ids = Array.from({ length: sessions }, (_, index) => `s${index}`);
    const visited = () => readFileSync(visits, 'utf8').trimEnd().split('\n');

    let server = await startUntilReady(...args);
    await Promise.all(ids.map((id) => call(server, 'PUT', `sessions/${id}`, {})));
    for (let round = 0; round < rounds; round++) {
      const isRunning = (await allRuns(server)).some(({ status }) => status === 'running');
      if (!isRunning) await call(server, 'POST', 'runs', { action: 'visit' });
      const until = visited().length + randomInt(0, sessions / 2);
      // The run may end first: then the process is killed while it has nothing to do.
      const isFarEnough = async () =>
        visited().length >= until || (await allRuns(server)).every(({ status }) => status !== 'running');
      while (!(await isFarEnough()));
      server.kill(signal);
      expect((await server.ended).code).toBe(signal === 'SIGKILL' ? null : 0);
      server = await startUntilReady(...args);
    }

    const runs = await vi.waitFor(async () => {
      const found = await allRuns(server);
      expect(found.map(({ status }) => status)).not.toContain('running');
      return found;
    }, 60_000);
    for (const { runId, ...run } of runs) {
      expect(run).toMatchObject({ status: 'completed', sessions, ok: sessions * 0.9, failed: sessions / 10 });
      const { items } = await call<{ items: { sessionId: string }[] }>(
        server,
        'GET',
        `runs/${runId}/jobs?limit=1000`,
      );
      expect(items.map(({ sessionId }) => sessionId).sort()).toEqual([...ids].sort());
      const seen = visited().filter((line) => line.startsWith(runId));
      expect(new Set(seen).size).toBe(sessions);
      // What was begun came to its end before the process did.
      if (signal === 'SIGINT') expect(seen).toHaveLength(sessions);
    }
  },
  60_000 + killRounds * 20_000,
);
