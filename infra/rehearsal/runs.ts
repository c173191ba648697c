import { type ApiTarget, apiJson } from './api-request.ts';

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

export async function registerSession(api: ApiTarget, id: string, meta: object = {}): Promise<void> {
  await apiJson(api, { method: 'PUT', path: `${probe}/sessions/${id}`, body: { meta } });
}

/** The newest runs of an action. */
export async function runsOf(api: ApiTarget, action: string): Promise<readonly Run[]> {
  return itemsAt(api, `${probe}/runs?action=${action}&limit=1000`);
}

export async function jobsOf(api: ApiTarget, { runId }: Run): Promise<readonly Job[]> {
  return itemsAt(api, `${probe}/runs/${runId}/jobs?limit=1000`);
}

export async function itemsAt<T>(api: ApiTarget, path: string): Promise<readonly T[]> {
  return (await apiJson<{ items: readonly T[] }>(api, { path })).items;
}
