import type { ServerResponse } from 'node:http';
import type { APIGatewayProxyStructuredResultV2 } from 'aws-lambda';

/** Sends what an HTTP API makes of a handler's structured result. */
export function reply(
  response: ServerResponse,
  method: string,
  requestId: string,
  {
    statusCode = 200,
    headers = {},
    body = '',
    cookies = [],
    isBase64Encoded,
  }: APIGatewayProxyStructuredResultV2,
): void {
  const bytes = Buffer.from(body, isBase64Encoded ? 'base64' : 'utf8');
  response.statusCode = statusCode;
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, String(value));
  if (cookies.length > 0) response.setHeader('set-cookie', cookies);
  response.setHeader('apigw-requestid', requestId);

  const isBodiless = statusCode === 204 || statusCode === 304;
  if (isBodiless) {
    response.removeHeader('content-length');
    end(response);
  } else if (method === 'HEAD') {
    // What GET would send is the handler's to know.
    if (bytes.length > 0 && !response.hasHeader('content-length')) {
      response.setHeader('content-length', bytes.length);
    }
    end(response);
  } else {
    response.setHeader('content-length', bytes.length);
    end(response, bytes);
  }
}

const lingerMs = 2_000;

/**
 * A connection that is closed while its request still comes is reset, and the client may lose the answer with it: it is
 * sent, and the rest of the request let come, for a while.
 */
function end(response: ServerResponse, bytes: Uint8Array = new Uint8Array()): void {
  const { req: request } = response;
  if (request.complete || response.shouldKeepAlive) {
    response.end(bytes);
    return;
  }
  response.flushHeaders();
  response.write(bytes);
  const close = () => {
    clearTimeout(timer);
    response.end();
  };
  const timer = setTimeout(close, lingerMs);
  request.once('close', close).resume();
}
