import { keyMaxBytes } from '../../../lib/defaults.ts';
import { forget } from '../../../lib/persistence/forget.ts';
import { makeStoreKey } from '../../../lib/persistence/store-key.ts';
import { HttpError } from '../http-error.ts';
import { apiHandler, type Handle } from '../http-handler.ts';
import { decodeCursor, encodeCursor, fromPlace, pageLimit } from '../paging.ts';
import { json } from '../response.ts';
import { agentTarget, instanceKey } from '../target.ts';
import { conditionsOf, writeUnder } from './conditional.ts';
import { instanceOperations } from './operations.ts';

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

/** `GET /v1/agents/{agent}/instances` */
const listInstances: Handle = async (request, services) => {
  const { scope, persistence } = agentTarget(request, services);
  const prefix = request.query.prefix ?? '';
  if (Buffer.byteLength(prefix) > keyMaxBytes) {
    throw new HttpError(
      'invalid_request',
      `prefix is ${Buffer.byteLength(prefix)} UTF-8 bytes, the limit is ${keyMaxBytes}`,
    );
  }
  const limit = pageLimit(request);
  const list = ['instances', scope, prefix];

  const after = decodeCursor(list, request);
  const page = await fromPlace(after, () => persistence.store.list({ scope, prefix, limit, after }));

  const items = page.items.map(({ key, version, bytes, storedBytes, updatedAt, expiresAt }) => ({
    ...{ key, version, bytes, storedBytes, updatedAt, expiresAt },
  }));
  return json(200, { items, cursor: page.next === undefined ? undefined : encodeCursor(list, page.next) });
};

export const handler = apiHandler('instances', instanceOperations, {
  forget: deleteInstance,
  'list-instances': listInstances,
});
