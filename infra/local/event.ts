import { isUtf8 } from 'node:buffer';
import type { APIGatewayProxyEventV2 } from 'aws-lambda';
import { HttpError } from '../../functions/http/http-error.ts';
import type { RouteMatch } from './handlers.ts';

/** What the socket gave: nothing decoded, nothing normalised. */
export interface RawRequest {
  readonly method: string;
  /** The request target as it was sent. */
  readonly target: string;
  /** Name, value, name, value, …, as node:http has them in `rawHeaders`. */
  readonly rawHeaders: readonly string[];
  readonly body: Buffer;
  readonly sourceIp: string;
  readonly httpVersion: string;
}

/** The event of payload format 2.0 that an HTTP API makes of a request. */
export function toEvent(
  request: RawRequest,
  { routeKey, parameters }: Pick<RouteMatch, 'routeKey' | 'parameters'>,
  requestId: string,
  now: Date,
): APIGatewayProxyEventV2 {
  const { method, target, sourceIp, httpVersion } = request;
  const [, rawQueryString = ''] = splitTarget(target);
  const { cookie, ...headers } = joinHeaders(request.rawHeaders);
  const queryStringParameters = joinQuery(rawQueryString);
  const rawPath = decodePath(target);
  return {
    version: '2.0',
    routeKey,
    rawPath,
    rawQueryString,
    ...(cookie !== undefined && { cookies: cookie.split(/; */).filter(Boolean) }),
    headers,
    ...(queryStringParameters && { queryStringParameters }),
    requestContext: {
      accountId: '000000000000',
      apiId: 'local',
      domainName: headers.host ?? '',
      domainPrefix: 'local',
      http: {
        method,
        path: rawPath,
        protocol: `HTTP/${httpVersion}`,
        sourceIp,
        userAgent: headers['user-agent'] ?? '',
      },
      requestId,
      routeKey,
      stage: '$default',
      time: commonLogTime(now),
      timeEpoch: now.getTime(),
    },
    ...(parameters && { pathParameters: { ...parameters } }),
    ...bodyOf(request.body, headers['content-type']),
  };
}

/**
 * The path of a request target, decoded once. `+` stays `+`, and no segment is resolved or merged.
 *
 * @throws HttpError `invalid_request` when it is not percent-encoded UTF-8
 */
export function decodePath(target: string): string {
  const [path] = splitTarget(target);
  try {
    // node:http gives bytes above 7F as one character each.
    return decodeURIComponent(path.replace(/[\x80-\xff]/g, (byte) => `%${byte.charCodeAt(0).toString(16)}`));
  } catch (error) {
    throw new HttpError('invalid_request', 'the path is not percent-encoded UTF-8', { cause: error });
  }
}

function splitTarget(target: string): [path: string, query: string] {
  const mark = target.indexOf('?');
  return mark < 0 ? [target, ''] : [target.slice(0, mark), target.slice(mark + 1)];
}

function joinHeaders(raw: readonly string[]): Record<string, string> {
  const headers = new Map<string, string>();
  for (let index = 0; index + 1 < raw.length; index += 2) {
    const name = (raw[index] as string).toLowerCase();
    const value = raw[index + 1] as string;
    const before = headers.get(name);
    const separator = name === 'cookie' ? '; ' : ',';
    headers.set(name, before === undefined ? value : `${before}${separator}${value}`);
  }
  return Object.fromEntries(headers);
}

function joinQuery(query: string): Record<string, string> | undefined {
  const parameters = new Map<string, string>();
  // Without a mark before it, one that is part of the first name would be dropped.
  for (const [name, value] of new URLSearchParams(`?${query}`)) {
    const before = parameters.get(name);
    parameters.set(name, before === undefined ? value : `${before},${value}`);
  }
  return parameters.size > 0 ? Object.fromEntries(parameters) : undefined;
}

const textTypes = /^(?:text\/[^;]*|application\/(?:json|xml|javascript))\s*(?:;|$)/i;

/** The gateway goes by the content type alone; bytes that are no UTF-8 would not survive as text. */
function bodyOf(
  body: Buffer,
  contentType: string | undefined,
): Pick<APIGatewayProxyEventV2, 'body' | 'isBase64Encoded'> {
  if (body.length === 0) return { isBase64Encoded: false };
  const isText = contentType !== undefined && textTypes.test(contentType.trim()) && isUtf8(body);
  return { body: body.toString(isText ? 'utf8' : 'base64'), isBase64Encoded: !isText };
}

const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/** `12/Mar/2020:19:03:58 +0000` */
function commonLogTime(now: Date): string {
  const [date = '', time = ''] = now.toISOString().split('T');
  const [year, month, day] = date.split('-');
  return `${day}/${months[Number(month) - 1]}/${year}:${time.slice(0, 8)} +0000`;
}
