import { forget } from '../../lib/persistence/forget.ts';
import { preconditions } from './conditional.ts';
import { type Handle, httpHandler } from './http-handler.ts';
import { agentTarget, instanceKey } from './target.ts';

/** `DELETE /v1/agents/{agent}/instances/{key+}` */
const deleteInstance: Handle = async (request, services) => {
  const { name, persistence } = agentTarget(request, services);
  const result = await forget(persistence, name, instanceKey(request), preconditions(request));
  if (result.status === 'error') throw result.error;
  return { status: 204 };
};

export const handler = httpHandler(deleteInstance);
