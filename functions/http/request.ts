import type { APIGatewayProxyEventV2 } from 'aws-lambda';
import { HttpError } from './http-error.ts';
import { isEncoded, isJson } from './media-type.ts';

/** A request as handlers see it, from an event of payload format 2.0. */
export interface HttpRequest {
  readonly id: string;
  readonly method: string;
  /** Decoded once, by the gateway; never again here. */
  readonly path: string;
  readonly parameters: Readonly<Record<string, string | undefined>>;
  readonly query: Readonly<Record<string, string | undefined>>;
  /** Names of query parameters that were sent more than once; `query` has their values joined by commas. */
  readonly repeated: readonly string[];
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** Claims of a verified JWT; empty with IAM authorization. */
  readonly claims: Readonly<Record<string, unknown>>;
  /** The subject of the JWT, or who has signed the request; unset where the gateway asks nobody. */
  readonly caller: string | undefined;
  /** The bytes as they were sent. */
  body(): Uint8Array;
}

export function toRequest(event: APIGatewayProxyEventV2): HttpRequest {
  const { requestContext } = event;
  const { jwt, iam } = (requestContext as { authorizer?: Authorizer }).authorizer ?? {};
  const claims = jwt?.claims ?? {};
  return {
    id: requestContext.requestId,
    method: requestContext.http.method,
    path: withoutStage(event.rawPath, requestContext.stage),
    parameters: event.pathParameters ?? {},
    query: event.queryStringParameters ?? {},
    repeated: repeatedNames(event.rawQueryString),
    headers: lowerCased(event.headers),
    claims,
    caller: typeof claims.sub === 'string' ? claims.sub : iam?.userArn,
    body: () => bytesOf(event),
  };
}

/** What a gateway's authorizer says of a caller. */
interface Authorizer {
  readonly jwt?: { readonly claims?: Readonly<Record<string, unknown>> };
  readonly iam?: { readonly userArn?: string };
}

/** A named stage leads `rawPath`; route keys and our routes do not have it. */
function withoutStage(path: string, stage: string): string {
  const prefix = `/${stage}`;
  return stage !== '$default' && path.startsWith(`${prefix}/`) ? path.slice(prefix.length) : path;
}

/** Names that a query has more than once. */
export function repeatedNames(rawQueryString = ''): string[] {
  // Without a mark before it, one that is part of the first name would be dropped.
  const names = [...new URLSearchParams(`?${rawQueryString}`).keys()];
  return [...new Set(names.filter((name, index) => names.indexOf(name) !== index))];
}

function lowerCased(headers: APIGatewayProxyEventV2['headers']): Record<string, string | undefined> {
  return Object.fromEntries(
    Object.entries(headers ?? {}).map(([name, value]) => [name.toLowerCase(), value]),
  );
}

/**
 * A gateway that delivers a body as text has replaced what is not UTF-8 in it: then its length is another one.
 * Such a body is refused, never stored altered. (A compressed one may have been inflated on the way: its length tells nothing.)
 */
function textBytes(body: string, headers: APIGatewayProxyEventV2['headers']): Uint8Array {
  const bytes = Buffer.from(body, 'utf8');
  const { 'content-length': sent, 'content-encoding': encoding, 'content-type': type } = lowerCased(headers);
  if (!isEncoded(encoding) && sent !== undefined && Number(sent) !== bytes.length) {
    throw new HttpError(
      isJson(type ?? '') ? 'invalid_json' : 'invalid_request',
      'the body is not UTF-8 and was altered on its way: send it as application/octet-stream',
    );
  }
  return bytes;
}

/** Which bodies arrive in base64 is the gateway's choice: only its flag tells, never the content type. */
function bytesOf({ body, isBase64Encoded, headers }: APIGatewayProxyEventV2): Uint8Array {
  if (body === undefined || body === null) return new Uint8Array();
  if (!isBase64Encoded) return textBytes(body, headers);
  if (body.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(body)) {
    throw new HttpError('invalid_request', 'the body is marked as base64 but is not');
  }
  return Buffer.from(body, 'base64');
}
