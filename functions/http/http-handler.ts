import type { APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2, Context } from 'aws-lambda';
import { agentNamePattern } from '../../lib/agents/define-agent.ts';
import { inOneCall } from '../../lib/dynamodb/call-budget.ts';
import { hashOf, serviceLog } from '../log.ts';
import { loggable } from '../loggable.ts';
import { type Services, services } from '../services.ts';
import { checkNoConditions, checkRequest } from './checked-request.ts';
import type { ApiFunction, Descriptions, OperationDescription } from './description.ts';
import { problemResponse } from './problem.ts';
import { type HttpRequest, toRequest } from './request.ts';
import { type HttpResponse, toResult } from './response.ts';

export type Handle = (request: HttpRequest, services: Services) => Promise<HttpResponse>;
export type HttpHandler = (
  event: APIGatewayProxyEventV2,
  context?: Context,
) => Promise<APIGatewayProxyStructuredResultV2>;

/** What each operation does that leads to this function. */
type Handles<Of extends Descriptions, Function extends ApiFunction> = {
  readonly [Operation in keyof Of as Of[Operation]['function'] extends Function ? Operation : never]: Handle;
};

/**
 * Makes the Lambda handler of a function of the API: the gateway says which route a request took, and `$default` for none.
 * Every error becomes a problem answer, every request one log line that names agent, hash of key or session, and request
 * id, and never what a state holds.
 */
export function apiHandler<const Of extends Descriptions, const Function extends ApiFunction>(
  name: Function,
  descriptions: Of,
  handles: Handles<Of, Function>,
  unrouted?: Handle,
): HttpHandler {
  const handlers = new Map<string, HttpHandler>();
  const handleOf: Readonly<Record<string, Handle>> = handles;
  for (const [operation, { function: leadsTo, methods, path, query }] of Object.entries(descriptions)) {
    const handle = handleOf[operation];
    if (leadsTo !== name || handle === undefined) continue;
    const handler = httpHandler(operation, Object.keys(query), handle);
    for (const method of methods) handlers.set(`${method} ${path}`, handler);
  }
  if (unrouted !== undefined) handlers.set('$default', httpHandler('$default', undefined, unrouted));
  return async (event, context) => {
    const handler = handlers.get(event.routeKey) ?? (unrouted && handlers.get('$default'));
    if (handler === undefined) throw new Error(`the route ${event.routeKey} leads to another function`);
    return handler(event, context);
  };
}

/**
 * Makes the handler of a function that one operation leads to. For the hot path, whose bundles hold no descriptions: the
 * compiler holds the names of the query parameters against the operation's.
 */
export function soleHandler<Of extends OperationDescription>(
  operation: string,
  query: Readonly<Record<keyof Of['query'], true>>,
  handle: Handle,
): HttpHandler {
  return httpHandler(operation, Object.keys(query), handle);
}

function httpHandler(operation: string, query: readonly string[] | undefined, handle: Handle): HttpHandler {
  return async (event, context) => {
    const startedAt = performance.now();
    const request = toRequest(event);
    const log = serviceLog(context);

    let tell: Services['onRequestFailed'];
    let tenantClaim: string | undefined;
    let response: HttpResponse;
    let failure: Record<string, unknown> = {};
    try {
      if (query !== undefined) checkRequest(query, request);
      if (query !== undefined && !onInstances.has(operation)) checkNoConditions(request);
      const given = services();
      tell = given.onRequestFailed;
      tenantClaim = given.tenantClaim;
      const work = () => handle(request, given);
      response = await (onInstances.has(operation) ? work() : inOneCall(work));
    } catch (error) {
      response = problemResponse(error, request.id);
      failure = loggable(error);
      tell?.(error);
    }

    const line = {
      requestId: request.id,
      operation,
      method: request.method,
      agent: loggableAgent(request.parameters.agent),
      keyHash: hashOf(request.parameters.key),
      sessionHash: hashOf(request.parameters.session),
      callerHash: hashOf(request.caller),
      tenantHash: hashOf(tenantIn(request, tenantClaim)),
      status: response.status,
      ms: Math.round(performance.now() - startedAt),
      ...failure,
    };
    if (response.status >= 500) log.error('request failed', line);
    else log.info('request', line);
    return toResult(response);
  };
}

/** They alone have ETags; and they call one store, which bounds the call itself. */
const onInstances: ReadonlySet<string> = new Set(['hibernate', 'thaw', 'forget']);

function tenantIn({ claims }: HttpRequest, claim: string | undefined): string | undefined {
  const tenant = claim === undefined ? undefined : claims[claim];
  return typeof tenant === 'string' ? tenant : undefined;
}

/** An agent is a kind, of which nothing says a name; what can be no agent's name may be any text. */
function loggableAgent(name = ''): string | undefined {
  return agentNamePattern.test(name) ? name : undefined;
}
