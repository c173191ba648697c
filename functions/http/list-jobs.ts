import { lifecycleStores } from '../lifecycle-engine.ts';
import { pageAnswer } from './fitting-page.ts';
import { HttpError } from './http-error.ts';
import { type Handle, httpHandler } from './http-handler.ts';
import { decodeCursor, pageLimit } from './paging.ts';
import type { HttpRequest } from './request.ts';
import { requestedRun } from './run-of.ts';
import { agentTarget } from './target.ts';

/** `GET /v1/agents/{agent}/runs/{run}/jobs` */
const getJobs: Handle = async (request, services) => {
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

export const handler = httpHandler('list-jobs', getJobs);

function outcome({ query: { ok } }: HttpRequest): boolean | undefined {
  if (ok === undefined) return undefined;
  if (ok !== 'true' && ok !== 'false') throw new HttpError('invalid_request', "ok must be 'true' or 'false'");
  return ok === 'true';
}
