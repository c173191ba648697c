import { agentRuntime } from './agent-runtime.ts';
import { HttpError } from './http-error.ts';
import { type Handle, httpHandler } from './http-handler.ts';
import { sessionId } from './target.ts';

/** `DELETE /v1/agents/{agent}/sessions/{session}` */
const deleteSession: Handle = async (request, services) => {
  const runtime = agentRuntime(request, services);
  const id = sessionId(request);
  const { memory } = request.query;
  if (memory !== undefined && memory !== 'forget')
    throw new HttpError('invalid_request', "memory must be 'forget'");

  if (memory === 'forget') await runtime.forgetSession(id);
  else await runtime.deregisterSession(id);

  return { status: 204 };
};

export const handler = httpHandler('deregister-session', deleteSession);
