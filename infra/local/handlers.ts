import { handler as api } from '../../functions/http/api/handler.ts';
import { handler as conversations } from '../../functions/http/conversations/handler.ts';
import type { ApiFunction } from '../../functions/http/description.ts';
import type { HttpHandler } from '../../functions/http/http-handler.ts';
import { handler as instances } from '../../functions/http/instances/handler.ts';
import { handler as hibernate } from '../../functions/http/instances/hibernate.ts';
import { handler as thaw } from '../../functions/http/instances/thaw.ts';
import { matchPath, operations } from '../../functions/http/operations.ts';
import { handler as runs } from '../../functions/http/runs/handler.ts';

const handlers: Readonly<Record<ApiFunction, HttpHandler>> = {
  ...{ hibernate, thaw, instances, conversations, runs, api },
};

export interface RouteMatch {
  /** As API Gateway writes it: `GET /v1/agents`, or `$default` for what no route takes. */
  readonly routeKey: string;
  readonly parameters: Readonly<Record<string, string>> | undefined;
  readonly handler: HttpHandler;
}

/** @param path decoded once */
export function matchRoute(method: string, path: string): RouteMatch {
  const { routes, parameters } = matchPath(path);
  const route = routes.find((candidate) => candidate.method === method);
  if (route === undefined) return { routeKey: '$default', parameters: undefined, handler: handlers.api };
  return {
    routeKey: `${route.method} ${route.path}`,
    parameters: Object.keys(parameters).length > 0 ? parameters : undefined,
    handler: handlers[operations[route.operation].function],
  };
}
