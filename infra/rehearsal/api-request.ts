import { request } from 'node:http';
import { AwsV4Signer } from 'aws4fetch';
import { type Credentials, region } from './aws-calls.ts';

export interface ApiAnswer {
  readonly status: number;
  readonly text: string;
}

export interface ApiRequest {
  readonly method?: string;
  readonly path: string;
  /** Sent as JSON. */
  readonly body?: object;
}

/** The deployed API, as one caller reaches it. */
export interface ApiTarget {
  readonly endpoint: string;
  /** What the API is called: requests carry it, and their signatures cover it. */
  readonly host: string;
  /** Nobody's: the request is not signed. */
  readonly credentials?: Credentials | undefined;
}

export async function apiRequest(
  target: ApiTarget,
  { method = 'GET', path, body }: ApiRequest,
): Promise<ApiAnswer> {
  const { endpoint, host, credentials } = target;
  const { hostname, port } = new URL(endpoint);
  const payload = body === undefined ? undefined : JSON.stringify(body);
  const sent = {
    method,
    headers: payload === undefined ? {} : { 'content-type': 'application/json' },
    ...(payload !== undefined && { body: payload }),
  };
  const signed =
    credentials === undefined
      ? sent.headers
      : await signedHeaders(`http://${host}${path}`, sent, credentials);
  return new Promise((resolve, reject) => {
    const outgoing = request({ hostname, port, path, method, headers: { ...signed, host } }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (part: string) => {
        text += part;
      });
      response.once('end', () => resolve({ status: response.statusCode ?? 0, text }));
    });
    outgoing.once('error', reject).end(payload);
  });
}

async function signedHeaders(
  url: string,
  sent: { method: string; headers: Record<string, string>; body?: string },
  credentials: Credentials,
): Promise<Record<string, string>> {
  const signer = new AwsV4Signer({ ...credentials, ...sent, url, service: 'execute-api', region });
  return Object.fromEntries((await signer.sign()).headers);
}

/** Resolves the answer's JSON; rejects when it is an error. */
export async function apiJson<T>(target: ApiTarget, wanted: ApiRequest): Promise<T> {
  const { status, text } = await apiRequest(target, wanted);
  if (status >= 300)
    throw new Error(`${wanted.method ?? 'GET'} ${wanted.path}: ${status} ${text.slice(0, 500)}`);
  return text === '' ? (undefined as T) : JSON.parse(text);
}
