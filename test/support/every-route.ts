import type { APIGatewayProxyStructuredResultV2 } from 'aws-lambda';
import { matchRoute } from '../../infra/local/handlers.ts';
import { type EventParts, httpEvent } from './http-event.ts';

export interface RouteAnswer {
  readonly status: number | undefined;
  readonly headers: APIGatewayProxyStructuredResultV2['headers'];
  // biome-ignore lint/suspicious/noExplicitAny: a test looks at any field
  readonly body: any;
}

/** Calls the handler that a method and a path are routed to, in this process, with the services that are in use. */
export async function request(
  method: string,
  path: string,
  parts: Omit<EventParts, 'method' | 'rawPath'> = {},
): Promise<RouteAnswer> {
  const { handler, parameters, routeKey } = matchRoute(method, path);
  const headers = { 'content-type': 'application/json', ...parts.headers };
  const event = httpEvent({ ...parts, method, rawPath: path, headers });
  const result = await handler({ ...event, routeKey, pathParameters: { ...parameters } });
  const { statusCode, headers: sent, body } = result;
  const isJson = /^application\/(?:problem\+)?json/.test(String(sent?.['content-type']));
  return { status: statusCode, headers: sent, body: body && isJson ? JSON.parse(body) : body };
}
