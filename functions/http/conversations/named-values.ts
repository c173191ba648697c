import { TooLargeError } from '../../../lib/errors.ts';
import { checkName } from '../../../lib/input.ts';
import { unpackValue } from '../../../lib/memory/message-codec.ts';
import type { NamedValues } from '../../../lib/memory/named-values.ts';
import { serializeValue } from '../../../lib/persistence/serialize-value.ts';
import type { Services } from '../../services.ts';
import { assertListable, fittingJson, pageAnswer } from '../fitting-page.ts';
import { HttpError } from '../http-error.ts';
import type { Handle } from '../http-handler.ts';
import { jsonBody } from '../json-body.ts';
import { bodyMaxBytes } from '../limits.ts';
import { decodeCursor, pageLimit } from '../paging.ts';
import type { HttpRequest } from '../request.ts';
import { valueKey } from '../target.ts';

/** The values that a request is about, and what cursors of their list are bound to. */
export type FindValues = (
  request: HttpRequest,
  services: Services,
) => Promise<{ readonly values: NamedValues; readonly list: readonly string[] }>;

/** What can be done with values under keys of paths, wherever they lie. A value is the whole body, both ways. */
export function handlesOfValues(find: FindValues): Record<'list' | 'get' | 'put' | 'delete', Handle> {
  return {
    async list(request, services) {
      const { values, list } = await find(request, services);
      const page = { list, limit: pageLimit(request), after: decodeCursor(list, request) };
      return pageAnswer(page, async (limit, after) => {
        if (after !== undefined) checkName('after', after);
        const { items, next } = await values.list({ limit, after });
        const serialized = items.map(async ({ key, dump }) => ({
          key,
          value: serializeValue(await unpackValue(dump)),
        }));
        return { items: await Promise.all(serialized), next };
      });
    },

    async get(request, services) {
      const { values } = await find(request, services);
      const value = await values.get(valueKey(request));
      if (value === undefined) throw new HttpError('not_found', 'nothing is kept under this key');
      const answer = fittingJson(200, serializeValue(value));
      if (answer === undefined) throw new TooLargeError(undefined, bodyMaxBytes);
      return answer;
    },

    async put(request, services) {
      const key = valueKey(request);
      const value = await jsonBody(request);
      if (value === undefined) throw new HttpError('invalid_request', 'the body is the value: it is missing');
      assertListable({ key, value });
      const { values } = await find(request, services);
      await values.set(key, value);
      return { status: 204 };
    },

    async delete(request, services) {
      const { values } = await find(request, services);
      await values.forget(valueKey(request));
      return { status: 204 };
    },
  };
}
