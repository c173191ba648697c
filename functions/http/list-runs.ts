import pMap from 'p-map';
import { checkName } from '../../lib/sessions/names.ts';
import { lifecycleStores } from '../lifecycle-engine.ts';
import { pageAnswer } from './fitting-page.ts';
import { type Handle, httpHandler } from './http-handler.ts';
import { decodeCursor, pageLimit } from './paging.ts';
import { shownRun } from './run-of.ts';
import { agentTarget } from './target.ts';

/** Runs read at a time, and of those that are going on, how many make a page end early: each takes 16 reads more. */
const readMax = 50;
const runningMax = 25;

/** `GET /v1/agents/{agent}/runs` */
const getRuns: Handle = async (request, services) => {
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
      const shown = await pMap(items, (run) => shownRun(runs, target, run), { concurrency: 4 });
      return { items: shown, next, isLast: running >= runningMax };
    },
  );
};

export const handler = httpHandler('list-runs', getRuns);
