import { rememberTenant } from '../../tenants.ts';
import { agentRuntime, registeredSession } from '../agent-runtime.ts';
import { pageAnswer } from '../fitting-page.ts';
import { HttpError } from '../http-error.ts';
import type { Handle } from '../http-handler.ts';
import { jsonBody, objectOf } from '../json-body.ts';
import { decodeCursor, pageLimit } from '../paging.ts';
import { json } from '../response.ts';
import { agentTarget, sessionId } from '../target.ts';

/** `PUT /v1/agents/{agent}/sessions/{session}` */
export const putSession: Handle = async (request, services) => {
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

/** `GET /v1/agents/{agent}/sessions/{session}` */
export const getSession: Handle = async (request, services) =>
  json(200, await registeredSession(agentRuntime(request, services), request));

/** `DELETE /v1/agents/{agent}/sessions/{session}` */
export const deleteSession: Handle = async (request, services) => {
  const runtime = agentRuntime(request, services);
  const id = sessionId(request);
  const { memory } = request.query;
  if (memory !== undefined && memory !== 'forget')
    throw new HttpError('invalid_request', "memory must be 'forget'");

  if (memory === 'forget') await runtime.forgetSession(id);
  else await runtime.deregisterSession(id);

  return { status: 204 };
};

/** `GET /v1/agents/{agent}/sessions` */
export const listSessions: Handle = async (request, services) => {
  const runtime = agentRuntime(request, services);
  const list = ['sessions', runtime.agent];

  return pageAnswer({ list, limit: pageLimit(request), after: decodeCursor(list, request) }, (limit, after) =>
    runtime.listSessionPage({ limit, after }),
  );
};
