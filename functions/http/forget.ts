import { forget } from '../../lib/persistence/forget.ts';
import { makeStoreKey } from '../../lib/persistence/store-key.ts';
import { conditionsOf, writeUnder } from './conditional.ts';
import { type Handle, httpHandler } from './http-handler.ts';
import { agentTarget, instanceKey } from './target.ts';

/** `DELETE /v1/agents/{agent}/instances/{key+}` */
const deleteInstance: Handle = async (request, services) => {
  const { name, persistence } = agentTarget(request, services);
  const key = instanceKey(request);
  const place = { store: persistence.store, storeKey: makeStoreKey(persistence, name, key) };
  await writeUnder(conditionsOf(request), place, (preconditions) =>
    forget(persistence, name, key, preconditions),
  );
  return { status: 204 };
};

export const handler = httpHandler('forget', deleteInstance);
