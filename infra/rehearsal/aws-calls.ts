import { AwsClient } from 'aws4fetch';

export const region = 'us-east-1';
export const account = '000000000000';

export interface Credentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
}

/** The emulator's administrator, who may do everything. */
export const administrator: Credentials = { accessKeyId: 'test', secretAccessKey: 'test' };

interface RestInput {
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** The few AWS calls that the rehearsal makes itself. Each rejects when the answer is an error. */
export interface AwsCalls {
  json(service: string, target: string, input: object): Promise<unknown>;
  query(service: string, version: string, parameters: Record<string, string>): Promise<string>;
  rest(service: string, method: string, path: string, sent?: RestInput): Promise<string>;
}

export function awsCalls(endpoint: string): AwsCalls {
  const client = new AwsClient({ ...administrator, region, retries: 0 });
  const send = async (
    service: string,
    path: string,
    init: { method: string; headers?: object; body?: string },
  ) => {
    const response = await client.fetch(`${endpoint}${path}`, { ...init, aws: { service } } as RequestInit);
    const text = await response.text();
    if (!response.ok) throw new Error(`${service}: ${response.status} ${text.slice(0, 500)}`);
    return text;
  };
  return {
    json: async (service, target, input) => {
      const headers = { 'content-type': 'application/x-amz-json-1.1', 'x-amz-target': target };
      return JSON.parse(await send(service, '/', { method: 'POST', headers, body: JSON.stringify(input) }));
    },
    query: (service, version, parameters) => {
      const headers = { 'content-type': 'application/x-www-form-urlencoded' };
      const body = new URLSearchParams({ Version: version, ...parameters }).toString();
      return send(service, '/', { method: 'POST', headers, body });
    },
    rest: (service, method, path, sent = {}) => send(service, path, { method, ...sent }),
  };
}
