import { SessionNotFoundError } from '../../lib/errors.ts';
import { KEEP_EVERYTHING, selectPolicy } from '../../lib/memory/retention.ts';
import type { AgentRuntime } from '../../lib/runtime/agent-runtime.ts';
import { createRuntime } from '../../lib/runtime/create-runtime.ts';
import type { Session } from '../../lib/sessions/session.ts';
import { runtimeStores } from '../runtime-stores.ts';
import type { Services } from '../services.ts';
import type { HttpRequest } from './request.ts';
import { agentTarget, sessionId } from './target.ts';

/** The sessions and memory of the agent that a request names, in its caller's own space, under the agent's policy. */
export function agentRuntime(request: HttpRequest, services: Services): AgentRuntime {
  const { scope, definition } = agentTarget(request, services);
  return createRuntime(scope, {
    stores: runtimeStores(services),
    // Only a defined agent has a policy: what another remembers is not to be lost by a default.
    policy: definition === undefined ? KEEP_EVERYTHING : selectPolicy(definition),
    maxErrors: definition?.limits?.maxErrors,
  });
}

/** The registered session that a request names; one that is not registered has no memory to show. */
export async function registeredSession(runtime: AgentRuntime, request: HttpRequest): Promise<Session> {
  const id = sessionId(request);
  const session = await runtime.getSession(id);
  if (session === undefined) throw new SessionNotFoundError(id);
  return session;
}
