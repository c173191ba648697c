import { rememberTenant } from '../tenants.ts';
import { agentRuntime } from './agent-runtime.ts';
import { type Handle, httpHandler } from './http-handler.ts';
import { jsonBody, objectOf } from './json-body.ts';
import { json } from './response.ts';
import { agentTarget, sessionId } from './target.ts';

/** `PUT /v1/agents/{agent}/sessions/{session}` */
const putSession: Handle = async (request, services) => {
  const { name, tenant } = agentTarget(request, services);
  const runtime = agentRuntime(request, services);
  const body = await jsonBody(request);
  const { meta = {} } = objectOf(body === undefined ? {} : body, ['meta']);

  const id = sessionId(request);
  if (tenant !== undefined) await rememberTenant(name, tenant, services);
  const { session, created } = await runtime.registerSession(id, meta as Record<string, unknown>);
  if (tenant !== undefined && created) await rememberTenant(name, tenant, services);

  return json(created ? 201 : 200, session);
};

export const handler = httpHandler('register-session', putSession);
