import { InvalidKeyError } from '../../../lib/errors.ts';
import { HttpError } from '../http-error.ts';
import { apiHandler, type Handle } from '../http-handler.ts';
import { matchPath } from '../operations.ts';
import { json } from '../response.ts';
import { listAgents } from './agents.ts';
import { openApiDocument } from './document.ts';
import { apiOperations } from './operations.ts';

/** `$default`: what no route takes. A known path with another method is 405, an instance without a key 400, the rest 404. */
const refuseUnrouted: Handle = async ({ method, path }) => {
  const { routes } = matchPath(path);
  if (routes.length > 0) {
    const allow = routes.map((route) => route.method).join(', ');
    throw new HttpError('method_not_allowed', `${method} is not a method of this resource`, {
      headers: { allow },
    });
  }
  if (/^\/v1\/agents\/[^/]+\/instances\/$/.test(path)) throw new InvalidKeyError('the instance key is empty');
  throw new HttpError('not_found', 'no such resource');
};

/** `GET /v1/openapi.json` */
const describeApi: Handle = async () => json(200, openApiDocument);

export const handler = apiHandler(
  'api',
  apiOperations,
  { 'list-agents': listAgents, 'describe-api': describeApi },
  refuseUnrouted,
);
