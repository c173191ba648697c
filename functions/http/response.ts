import type { APIGatewayProxyStructuredResultV2 } from 'aws-lambda';
import { jsonText } from '../../lib/persistence/json-text.ts';

/** An answer before it is put into API Gateway's form. A string body is text, bytes travel in base64. */
export interface HttpResponse {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
}

export function json(
  status: number,
  value: unknown,
  headers: Readonly<Record<string, string>> = {},
): HttpResponse {
  return { status, headers: { 'content-type': 'application/json', ...headers }, body: jsonText(value) };
}

/** ETags stand in quotes in HTTP, without them everywhere else. */
export function quoteEtag(etag: string): string {
  return `"${etag}"`;
}

/**
 * A state may be anything, a page with scripts included, and is served from the origin of the API. Whatever a browser
 * makes of an answer: it runs nothing, is embedded nowhere, loads nothing, and no address of it is told to others.
 */
const inertHeaders = {
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'; sandbox",
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
};

export function toResult({
  status,
  headers = {},
  body = '',
}: HttpResponse): APIGatewayProxyStructuredResultV2 {
  const isBase64Encoded = typeof body !== 'string';
  return {
    statusCode: status,
    headers: { 'cache-control': 'no-store', ...headers, ...inertHeaders },
    body: isBase64Encoded
      ? Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString('base64')
      : body,
    isBase64Encoded,
  };
}
