import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2 } from 'aws-lambda';
import { payloadMaxBytes } from '../../functions/http/limits.ts';
import { problemResponse } from '../../functions/http/problem.ts';
import { toResult } from '../../functions/http/response.ts';
import { type Services, useServices } from '../../functions/services.ts';
import { DormouseError, TooLargeError } from '../../lib/errors.ts';
import type { JwtAuth } from '../settings.ts';
import { decodePath, toEvent } from './event.ts';
import { matchRoute } from './handlers.ts';
import { reply } from './reply.ts';
import { readBody } from './request-body.ts';
import { type Claims, uncheckedClaims } from './unchecked-token.ts';

/** What is answered to a request; an error becomes a problem answer. */
export type Answer = (
  request: IncomingMessage,
  requestId: string,
) => Promise<APIGatewayProxyStructuredResultV2>;

/** Answers a request over HTTP. */
export async function serve(
  request: IncomingMessage,
  response: ServerResponse,
  answer: Answer,
): Promise<void> {
  const requestId = randomUUID();
  const method = request.method ?? 'GET';
  let result: APIGatewayProxyStructuredResultV2;
  try {
    result = await answer(request, requestId);
    // An answer whose headers cannot be sent fails here, before anything is.
    reply(response, method, requestId, result);
  } catch (error) {
    if (response.headersSent || request.socket.destroyed) {
      response.destroy();
      return;
    }
    if (!(error instanceof DormouseError)) console.error(error);
    for (const name of response.getHeaderNames()) response.removeHeader(name);
    reply(response, method, requestId, toResult(problemResponse(error, requestId)));
  }
}

/** Request → event → handler → result: what API Gateway and Lambda do between a caller and the handlers. */
export function handlersOver(services: Services, jwt?: JwtAuth): Answer {
  return (request, requestId) => {
    if (jwt === undefined) return invoke(request, requestId, services);
    const claims = uncheckedClaims(request.headers.authorization, jwt, new Date());
    return claims === undefined ? refused() : invoke(request, requestId, services, claims);
  };
}

/** In the gateway's own form. */
async function refused(): Promise<APIGatewayProxyStructuredResultV2> {
  return {
    statusCode: 401,
    headers: { 'content-type': 'application/json', 'www-authenticate': 'Bearer' },
    body: JSON.stringify({ message: 'Unauthorized' }),
  };
}

async function invoke(
  request: IncomingMessage,
  requestId: string,
  services: Services,
  claims?: Claims,
): Promise<APIGatewayProxyStructuredResultV2> {
  const { method = 'GET', url: target = '/' } = request;
  const route = matchRoute(method, decodePath(target));
  const raw = {
    method,
    target,
    rawHeaders: request.rawHeaders,
    body: await readBody(request),
    sourceIp: request.socket.remoteAddress ?? '127.0.0.1',
    httpVersion: request.httpVersion,
  };
  const anonymous = toEvent(raw, route, requestId, new Date());
  const event = claims === undefined ? anonymous : authorized(anonymous, claims);
  const eventBytes = payloadBytes(event, raw.body.length);
  if (eventBytes > payloadMaxBytes) throw new TooLargeError(eventBytes, payloadMaxBytes);
  // Handlers look their services up as they are called, so each server of a process has its own.
  useServices(services);
  const result = await route.handler(event);
  const resultBytes = payloadBytes(result, result.body?.length ?? 0);
  if (resultBytes > payloadMaxBytes) {
    throw new Error(`a handler answered with ${resultBytes} bytes, Lambda's limit is ${payloadMaxBytes}`);
  }
  return result;
}

/** As API Gateway's JWT authorizer hands a request on. */
function authorized(event: APIGatewayProxyEventV2, claims: Claims): APIGatewayProxyEventV2 {
  const authorizer = { jwt: { claims, scopes: null } };
  const requestContext = { ...event.requestContext, authorizer };
  return { ...event, requestContext };
}

/** Lambda takes and gives JSON. A character of a body becomes six bytes at most, so small ones need no counting. */
function payloadBytes(payload: object, bodyLength: number): number {
  return bodyLength < payloadMaxBytes / 8 ? 0 : Buffer.byteLength(JSON.stringify(payload));
}
