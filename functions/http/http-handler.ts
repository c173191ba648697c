import { createHash } from 'node:crypto';
import { Logger } from '@aws-lambda-powertools/logger';
import type { APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2, Context } from 'aws-lambda';
import { loggable } from '../loggable.ts';
import { type Services, services } from '../services.ts';
import { problemResponse } from './problem.ts';
import { type HttpRequest, toRequest } from './request.ts';
import { type HttpResponse, toResult } from './response.ts';

export type Handle = (request: HttpRequest, services: Services) => Promise<HttpResponse>;
export type HttpHandler = (
  event: APIGatewayProxyEventV2,
  context?: Context,
) => Promise<APIGatewayProxyStructuredResultV2>;

let logger: Logger | undefined;

/**
 * Makes a Lambda handler of a use case: every error becomes a problem answer, every request one log line that names
 * agent, hash of key or session, and request id, and never what a state holds.
 */
export function httpHandler(handle: Handle): HttpHandler {
  return async (event, context) => {
    const startedAt = performance.now();
    const request = toRequest(event);
    logger ??= new Logger({ serviceName: 'dormouse' });
    if (context) logger.addContext(context);

    let response: HttpResponse;
    let failure: Record<string, unknown> = {};
    try {
      response = await handle(request, services());
    } catch (error) {
      response = problemResponse(error, request.id);
      failure = loggable(error);
    }

    const line = {
      requestId: request.id,
      method: request.method,
      agent: request.parameters.agent,
      keyHash: hashOf(request.parameters.key),
      sessionHash: hashOf(request.parameters.session),
      status: response.status,
      ms: Math.round(performance.now() - startedAt),
      ...failure,
    };
    if (response.status >= 500) logger.error('request failed', line);
    else logger.info('request', line);
    return toResult(response);
  };
}

/** Keys may name people: the log has enough of a hash to follow one, not the key. */
function hashOf(key: string | undefined): string | undefined {
  return key === undefined ? undefined : createHash('sha256').update(key).digest('hex').slice(0, 16);
}
