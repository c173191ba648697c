import { namedValues } from '../../../lib/memory/named-values.ts';
import { runtimeStores } from '../../runtime-stores.ts';
import { agentRuntime, registeredSession } from '../agent-runtime.ts';
import { identityId } from '../target.ts';
import { handlesOfValues } from './named-values.ts';

/** `/v1/agents/{agent}/sessions/{session}/users/{identity}`, and `…/{key}` below it */
export const userData = handlesOfValues(async (request, services) => {
  const runtime = agentRuntime(request, services);
  const { agent, policy } = runtime;
  const identity = identityId(request);
  const { id: session } = await registeredSession(runtime, request);
  // Asked again when the value is about to be stored: who deregisters the session meanwhile must not miss it.
  const admit = async () => void (await registeredSession(runtime, request));
  const scope = { kind: 'user', agent, session, identity } as const;
  return {
    values: namedValues(runtimeStores(services).memory, scope, { policy, admit }),
    list: ['user-data', agent, session, identity],
  };
});

/** `/v1/agents/{agent}/knowledge`, and `…/{key}` below it */
export const knowledge = handlesOfValues(async (request, services) => {
  const { agent, policy } = agentRuntime(request, services);
  const scope = { kind: 'knowledge', agent } as const;
  return {
    values: namedValues(runtimeStores(services).memory, scope, { policy }),
    list: ['knowledge', agent],
  };
});
