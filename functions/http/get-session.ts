import { agentRuntime, registeredSession } from './agent-runtime.ts';
import { type Handle, httpHandler } from './http-handler.ts';
import { json } from './response.ts';

/** `GET /v1/agents/{agent}/sessions/{session}` */
const getSession: Handle = async (request, services) =>
  json(200, await registeredSession(agentRuntime(request, services), request));

export const handler = httpHandler('get-session', getSession);
