import type { APIGatewayProxyStructuredResultV2 } from 'aws-lambda';

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
  return { status, headers: { 'content-type': 'application/json', ...headers }, body: JSON.stringify(value) };
}

/** ETags stand in quotes in HTTP, without them everywhere else. */
export function quoteEtag(etag: string): string {
  return `"${etag}"`;
}

export function toResult({
  status,
  headers = {},
  body = '',
}: HttpResponse): APIGatewayProxyStructuredResultV2 {
  const isBase64Encoded = typeof body !== 'string';
  return {
    statusCode: status,
    headers: { ...headers, 'x-content-type-options': 'nosniff' },
    body: isBase64Encoded
      ? Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString('base64')
      : body,
    isBase64Encoded,
  };
}
