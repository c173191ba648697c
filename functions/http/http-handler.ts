import type { APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2, Context } from 'aws-lambda';
import { agentNamePattern } from '../../lib/agents/define-agent.ts';
import { inOneCall } from '../../lib/dynamodb/call-budget.ts';
import { type Operation, routes } from '../../lib/http/routes.ts';
import { hashOf, serviceLog } from '../log.ts';
import { loggable } from '../loggable.ts';
import { type Services, services } from '../services.ts';
import { checkRequest } from './checked-request.ts';
import { problemResponse } from './problem.ts';
import { type HttpRequest, toRequest } from './request.ts';
import { type HttpResponse, toResult } from './response.ts';

export type Handle = (request: HttpRequest, services: Services) => Promise<HttpResponse>;
export type HttpHandler = (
  event: APIGatewayProxyEventV2,
  context?: Context,
) => Promise<APIGatewayProxyStructuredResultV2>;

/**
 * Makes a Lambda handler of a use case: every error becomes a problem answer, every request one log line that names
 * agent, hash of key or session, and request id, and never what a state holds.
 */
export function httpHandler(operation: Operation | 'fallback', handle: Handle): HttpHandler {
  return async (event, context) => {
    const startedAt = performance.now();
    const request = toRequest(event);
    const log = serviceLog(context);

    let response: HttpResponse;
    let failure: Record<string, unknown> = {};
    try {
      if (operation !== 'fallback') checkRequest(operation, request);
      const work = () => handle(request, services());
      response = await (callOnce.has(operation) ? work() : inOneCall(work));
    } catch (error) {
      response = problemResponse(error, request.id);
      failure = loggable(error);
    }

    const line = {
      requestId: request.id,
      method: request.method,
      agent: loggableAgent(request.parameters.agent),
      keyHash: hashOf(request.parameters.key),
      sessionHash: hashOf(request.parameters.session),
      status: response.status,
      ms: Math.round(performance.now() - startedAt),
      ...failure,
    };
    if (response.status >= 500) log.error('request failed', line);
    else log.info('request', line);
    return toResult(response);
  };
}

/** The handler of a function that several operations share: the gateway says which route it took. */
export function sharedHandler(handles: Readonly<Partial<Record<Operation, Handle>>>): HttpHandler {
  const handlers = new Map(
    routes.flatMap(({ operation, method, path }): [string, HttpHandler][] => {
      const handle = handles[operation];
      return handle === undefined ? [] : [[`${method} ${path}`, httpHandler(operation, handle)]];
    }),
  );
  return async (event, context) => {
    const handler = handlers.get(event.routeKey);
    if (handler === undefined) throw new Error(`the route ${event.routeKey} leads to another function`);
    return handler(event, context);
  };
}

/** The hot path: they call one store, which bounds the call itself. */
const callOnce: ReadonlySet<string> = new Set(['hibernate', 'thaw', 'forget'] satisfies Operation[]);

/** An agent is a kind, of which nothing says a name; what can be no agent's name may be any text. */
function loggableAgent(name = ''): string | undefined {
  return agentNamePattern.test(name) ? name : undefined;
}
