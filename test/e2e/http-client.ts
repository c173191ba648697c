import { type ClientRequest, request as httpRequest } from 'node:http';
import { AwsV4Signer } from 'aws4fetch';

/** A deployment to test over HTTP: where it is, and how its requests are signed. */
export interface Target {
  readonly url: string;
  /** The Host header, where it is not the one of `url`. */
  readonly host?: string | undefined;
  readonly signed: boolean;
}

export interface Call {
  readonly method: string;
  /** Sent as it is: nothing normalises dots or slashes in it. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array | string;
}

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: Buffer;
  json(): unknown;
}

/** The deployment that the environment names, or undefined: then the suite starts a local server. */
export function targetFromEnvironment(env: NodeJS.ProcessEnv = process.env): Target | undefined {
  const url = env.DORMOUSE_TEST_URL;
  if (!url) return undefined;
  return { url, host: env.DORMOUSE_TEST_HOST, signed: env.DORMOUSE_TEST_SIGNED === '1' };
}

/** One HTTP request without a library's opinions: no redirects, no decoding, no headers of its own. */
export async function send(target: Target, call: Call): Promise<Answer> {
  const { hostname, port, host, pathname } = new URL(target.url);
  const headers = { host: target.host ?? host, ...call.headers };
  const path = `${pathname === '/' ? '' : pathname}${call.path}`;
  const signature = target.signed ? await sign(target, path, { ...call, headers }) : {};
  return new Promise((resolve, reject) => {
    const options = { method: call.method, hostname, port, path, headers: { ...headers, ...signature } };
    const outgoing: ClientRequest = httpRequest(options, (response) => {
      const parts: Buffer[] = [];
      response.on('data', (part: Buffer) => parts.push(part));
      response.on('error', reject);
      response.on('end', () => {
        const body = Buffer.concat(parts);
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers as Record<string, string>,
          body,
          json: () => JSON.parse(body.toString()),
        });
      });
    });
    outgoing.on('error', reject);
    if (call.body !== undefined) outgoing.setHeader('content-length', Buffer.byteLength(call.body));
    outgoing.end(call.body);
  });
}

async function sign(target: Target, path: string, call: Call): Promise<Record<string, string>> {
  const signer = new AwsV4Signer({
    url: `http://${target.host ?? new URL(target.url).host}${path}`,
    method: call.method,
    headers: { ...call.headers },
    ...(call.body !== undefined && { body: call.body as string }),
    service: 'execute-api',
    region: process.env.AWS_REGION ?? 'us-east-1',
    accessKeyId: process.env.AWS_ACCESS_KEY_ID ?? '',
    secretAccessKey: process.env.AWS_SECRET_ACCESS_KEY ?? '',
    ...(process.env.AWS_SESSION_TOKEN && { sessionToken: process.env.AWS_SESSION_TOKEN }),
  });
  const { headers } = await signer.sign();
  return Object.fromEntries(headers);
}
