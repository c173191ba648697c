import { lifecycleStores } from '../lifecycle-engine.ts';
import { type Handle, httpHandler } from './http-handler.ts';
import { json } from './response.ts';
import { requestedRun, shownRun } from './run-of.ts';
import { agentTarget } from './target.ts';

/** `GET /v1/agents/{agent}/runs/{run}` */
const getRun: Handle = async (request, services) => {
  const target = agentTarget(request, services);
  const { runs } = lifecycleStores(services);
  return json(200, await shownRun(runs, target, await requestedRun(runs, target, request)));
};

export const handler = httpHandler('get-run', getRun);
