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
    response.end();
  } else if (method === 'HEAD') {
    // What GET would send is the handler's to know.
    if (bytes.length > 0 && !response.hasHeader('content-length')) {
      response.setHeader('content-length', bytes.length);
    }
    response.end();
  } else {
    response.setHeader('content-length', bytes.length);
    response.end(bytes);
  }
}
