import { keyMaxBytes } from '../../lib/defaults.ts';
import { HttpError } from './http-error.ts';
import { type Handle, httpHandler } from './http-handler.ts';
import { decodeCursor, encodeCursor, pageLimit } from './paging.ts';
import { json } from './response.ts';
import { agentTarget } from './target.ts';

/** `GET /v1/agents/{agent}/instances` */
const listInstances: Handle = async (request, services) => {
  const { scope, persistence } = agentTarget(request, services);
  const prefix = request.query.prefix ?? '';
  if (Buffer.byteLength(prefix) > keyMaxBytes) {
    throw new HttpError('invalid_request', `prefix is at most ${keyMaxBytes} UTF-8 bytes`);
  }
  const limit = pageLimit(request);
  const list = ['instances', scope, prefix];

  const page = await persistence.store.list({ scope, prefix, limit, after: decodeCursor(list, request) });

  const items = page.items.map(({ key, version, bytes, storedBytes, updatedAt, expiresAt }) => ({
    ...{ key, version, bytes, storedBytes, updatedAt, expiresAt },
  }));
  return json(200, { items, cursor: page.next === undefined ? undefined : encodeCursor(list, page.next) });
};

export const handler = httpHandler(listInstances);
