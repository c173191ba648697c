import { type ApiTarget, apiJson } from './api-request.ts';
import { until } from './until.ts';

/** What the checks of runs read of the API's answers. */
export interface Run {
  readonly runId: string;
  readonly action: string;
  readonly trigger: string;
  readonly schedule?: string;
  readonly status: string;
  readonly sessions: number;
  readonly ok: number;
  readonly failed: number;
}

export interface Job {
  readonly sessionId: string;
  readonly ok: boolean;
  readonly result: unknown;
  readonly error: { readonly reason: string } | null;
}

export interface LoggedError {
  readonly id: string;
  readonly msg: string;
  readonly sessionId?: string;
  readonly runId?: string;
}

/** The agent of the suite whose actions these checks use. */
export const probe = '/v1/agents/probe';

const patienceMs = 60_000;

export async function registerSession(api: ApiTarget, id: string, meta: object = {}): Promise<void> {
  await apiJson(api, { method: 'PUT', path: `${probe}/sessions/${id}`, body: { meta } });
}

/** Resolves where the run is. */
export async function startRun(
  api: ApiTarget,
  action: string,
  sessions: readonly string[],
  agent = probe,
): Promise<string> {
  const body = { action, sessions };
  const { runId } = await apiJson<Run>(api, { method: 'POST', path: `${agent}/runs`, body });
  return `${agent}/runs/${runId}`;
}

/** Resolves undefined when the run was still going on after a minute. */
export async function endOfRun(api: ApiTarget, path: string): Promise<Run | undefined> {
  const ended = async () => {
    const run = await apiJson<Run>(api, { path });
    return run.status === 'running' ? undefined : run;
  };
  return until(ended, patienceMs);
}

/** The newest runs of an action. */
export async function runsOf(api: ApiTarget, action: string): Promise<readonly Run[]> {
  return itemsAt(api, `${probe}/runs?action=${action}&limit=1000`);
}

export async function jobsOf(api: ApiTarget, { runId }: Run, agent = probe): Promise<readonly Job[]> {
  return itemsAt(api, `${agent}/runs/${runId}/jobs?limit=1000`);
}

export async function itemsAt<T>(api: ApiTarget, path: string): Promise<readonly T[]> {
  return (await apiJson<{ items: readonly T[] }>(api, { path })).items;
}
