import pMap from 'p-map';
import { lifecycleStores } from '../lifecycle-engine.ts';
import { pageAnswer } from './fitting-page.ts';
import { HttpError } from './http-error.ts';
import { type Handle, httpHandler } from './http-handler.ts';
import { decodeCursor, pageLimit } from './paging.ts';
import { shownRun } from './run-of.ts';
import { agentTarget } from './target.ts';

/** `GET /v1/agents/{agent}/runs` */
const getRuns: Handle = async (request, services) => {
  const target = agentTarget(request, services);
  const { runs } = lifecycleStores(services);
  const { action } = request.query;
  if (action === '') throw new HttpError('invalid_request', 'action must name an action');
  const list = ['runs', target.scope, action ?? ''];

  return pageAnswer(
    { list, limit: pageLimit(request), after: decodeCursor(list, request) },
    async (limit, after) => {
      const { items, next } = await runs.list({ agent: target.scope, action, limit, after });
      // A run that is going on takes a read for each of its shards, so few of them at a time.
      return { items: await pMap(items, (run) => shownRun(runs, target, run), { concurrency: 4 }), next };
    },
  );
};

export const handler = httpHandler(getRuns);
