import { type ApiTarget, apiJson } from './api-request.ts';
import type { Report } from './report.ts';
import { endOfRun, itemsAt, startRun } from './runs.ts';

const support = '/v1/agents/support';
const dayMs = 86_400_000;

/** An action that reads and writes a memory, with the worker's role: old messages become a capsule. */
export async function checkMemoryRun(report: Report, api: ApiTarget): Promise<void> {
  const session = 'rehearsal-compaction';
  const path = `${support}/sessions/${session}`;
  await apiJson(api, { method: 'PUT', path, body: { meta: {} } });
  const timestamp = new Date(Date.now() - 10 * dayMs).toISOString();
  const messages = ['first', 'last'].map((content) => ({ content, sender: { id: 'ann' }, timestamp }));
  await apiJson(api, { method: 'POST', path: `${path}/messages`, body: messages });

  const run = await endOfRun(api, await startRun(api, 'compact-stale-sessions', [session], support));

  const capsules = await itemsAt<{ summary: unknown }>(api, `${path}/capsules`);
  const summary = String(capsules[0]?.summary);
  report.check(
    'a run of the agent of the project makes a capsule of old messages',
    run?.ok === 1 && capsules.length === 1 && summary.includes('first') && summary.includes('last'),
    JSON.stringify({ run, capsules }),
  );
}
