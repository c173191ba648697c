import { handler as api } from '../../functions/http/api/handler.ts';
import { handler as conversations } from '../../functions/http/conversations/handler.ts';
import type { ApiFunction, Method } from '../../functions/http/description.ts';
import type { HttpHandler } from '../../functions/http/http-handler.ts';
import { handler as instances } from '../../functions/http/instances/handler.ts';
import { handler as hibernate } from '../../functions/http/instances/hibernate.ts';
import { handler as thaw } from '../../functions/http/instances/thaw.ts';
import { type Operation, operations } from '../../functions/http/operations.ts';
import { handler as runs } from '../../functions/http/runs/handler.ts';

const handlers: Readonly<Record<ApiFunction, HttpHandler>> = {
  ...{ hibernate, thaw, instances, conversations, runs, api },
};

/** What the gateway calls for an operation: the handler of its function, told the route that was taken. */
export function handlerOf(operation: Operation | '$default'): HttpHandler {
  if (operation === '$default') return (event, context) => api({ ...event, routeKey: '$default' }, context);
  const handler = handlers[operations[operation].function];
  return (event, context) =>
    handler({ ...event, routeKey: routeKeyOf(operation, event.requestContext.http.method) }, context);
}

/** @param method where the operation has several; another one is not routed to it, so that the first is taken */
export function routeKeyOf(operation: Operation, method?: string): string {
  const { path } = operations[operation];
  const methods: readonly Method[] = operations[operation].methods;
  return `${methods.find((one) => one === method) ?? methods[0]} ${path}`;
}
