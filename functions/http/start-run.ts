import { UnknownActionError } from '../../lib/runs/run-error.ts';
import { startRun } from '../../lib/runs/start-run.ts';
import { lifecycleEngine } from '../lifecycle-engine.ts';
import { publishMetrics } from '../metrics.ts';
import { HttpError } from './http-error.ts';
import { type Handle, httpHandler } from './http-handler.ts';
import { jsonBody, objectOf } from './json-body.ts';
import { json } from './response.ts';
import { agentTarget } from './target.ts';

/** `POST /v1/agents/{agent}/runs` */
const postRun: Handle = async (request, services) => {
  const { name, scope } = agentTarget(request, services);
  const { action, sessions } = objectOf(await jsonBody(request), ['action', 'sessions']);
  if (typeof action !== 'string' || action === '')
    throw new HttpError('invalid_request', 'action must name an action of the agent');

  try {
    const { status, run } = await startRun(lifecycleEngine(services), {
      agent: scope,
      action,
      // Its type is the library's to check: it names the field.
      sessions: sessions as readonly string[] | undefined,
      overlap: services.overlap,
    });
    const location = `/v1/agents/${name}/runs/${run.runId}`;
    return json(202, { runId: run.runId, skipped: status === 'skipped' }, { location });
  } catch (error) {
    // The library knows the agent by its scope, which a caller does not.
    if (error instanceof UnknownActionError) throw new UnknownActionError(name, action);
    throw error;
  } finally {
    publishMetrics();
  }
};

export const handler = httpHandler(postRun);
