import { actionNames } from '../../lib/agents/actions.ts';
import { UnknownActionError } from '../../lib/runs/run-error.ts';
import { type RunRequest, startRun } from '../../lib/runs/start-run.ts';
import { lifecycleEngine } from '../lifecycle-engine.ts';
import { publishMetrics } from '../metrics.ts';
import { type Handle, httpHandler } from './http-handler.ts';
import { jsonBody, objectOf } from './json-body.ts';
import { json } from './response.ts';
import { agentTarget } from './target.ts';

/** `POST /v1/agents/{agent}/runs` */
const postRun: Handle = async (request, services) => {
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

export const handler = httpHandler('start-run', postRun);
