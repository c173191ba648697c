import pMap from 'p-map';
import { actionNames } from '../../../lib/agents/actions.ts';
import { checkName } from '../../../lib/input.ts';
import { UnknownActionError } from '../../../lib/runs/run-error.ts';
import { type RunRequest, startRun } from '../../../lib/runs/start-run.ts';
import { lifecycleEngine, lifecycleStores } from '../../lifecycle-engine.ts';
import { publishMetrics } from '../../metrics.ts';
import { pageAnswer } from '../fitting-page.ts';
import { HttpError } from '../http-error.ts';
import type { Handle } from '../http-handler.ts';
import { jsonBody, objectOf } from '../json-body.ts';
import { decodeCursor, pageLimit } from '../paging.ts';
import type { HttpRequest } from '../request.ts';
import { json } from '../response.ts';
import { agentTarget } from '../target.ts';
import { requestedRun, serializeRun } from './serialize-run.ts';

/** `POST /v1/agents/{agent}/runs` */
export const postRun: Handle = async (request, services) => {
  const { name, scope } = agentTarget(request, services);
  // The types of its fields are the library's to check: it names the field.
  const { action, sessions } = objectOf(await jsonBody(request), ['action', 'sessions']) as Pick<
    RunRequest,
    'action' | 'sessions'
  >;

  try {
    const wanted = { agent: scope, action, sessions, overlap: services.overlap };
    const { run } = await startRun(lifecycleEngine(services), wanted);
    return json(202, { runId: run.runId }, { location: `/v1/agents/${name}/runs/${run.runId}` });
  } catch (error) {
    // The library knows the agent by its scope, which a caller does not.
    if (error instanceof UnknownActionError)
      throw new UnknownActionError(name, action, await actionNames(services.agents.get(name)));
    throw error;
  } finally {
    publishMetrics();
  }
};

/** Runs read at a time, and of those that are going on, how many make a page end early: each takes 16 reads more. */
const readMax = 50;
const runningMax = 25;

/** `GET /v1/agents/{agent}/runs` */
export const getRuns: Handle = async (request, services) => {
  const target = agentTarget(request, services);
  const { runs } = lifecycleStores(services);
  const { action } = request.query;
  if (action !== undefined) checkName('action', action);
  const list = ['runs', target.scope, action ?? ''];
  let running = 0;

  return pageAnswer(
    { list, limit: pageLimit(request), after: decodeCursor(list, request) },
    async (limit, after) => {
      const query = { agent: target.scope, action, limit: Math.min(limit, readMax), after };
      const { items, next } = await runs.list(query);
      running += items.filter(({ status }) => status === 'running').length;
      const shown = await pMap(items, (run) => serializeRun(runs, target, run), { concurrency: 4 });
      return { items: shown, next, isLast: running >= runningMax };
    },
  );
};

/** `GET /v1/agents/{agent}/runs/{run}` */
export const getRun: Handle = async (request, services) => {
  const target = agentTarget(request, services);
  const { runs } = lifecycleStores(services);
  return json(200, await serializeRun(runs, target, await requestedRun(runs, target, request)));
};

/** `GET /v1/agents/{agent}/runs/{run}/jobs` */
export const getJobs: Handle = async (request, services) => {
  const target = agentTarget(request, services);
  const { runs } = lifecycleStores(services);
  const ok = outcome(request);
  const limit = pageLimit(request);
  const { agent, runId } = await requestedRun(runs, target, request);
  const list = ['jobs', agent, runId, String(ok)];

  return pageAnswer({ list, limit, after: decodeCursor(list, request) }, (pageSize, after) =>
    runs.listJobs({ agent, runId, ok, limit: pageSize, after }),
  );
};

function outcome({ query: { ok } }: HttpRequest): boolean | undefined {
  if (ok === undefined) return undefined;
  if (ok !== 'true' && ok !== 'false') throw new HttpError('invalid_request', "ok must be 'true' or 'false'");
  return ok === 'true';
}
