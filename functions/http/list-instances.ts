import { keyMaxBytes } from '../../lib/defaults.ts';
import { HttpError } from './http-error.ts';
import { type Handle, httpHandler } from './http-handler.ts';
import { decodeCursor, encodeCursor, fromPlace, pageLimit } from './paging.ts';
import { json } from './response.ts';
import { agentTarget } from './target.ts';

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

export const handler = httpHandler('list-instances', listInstances);
