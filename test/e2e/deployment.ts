import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll } from 'vitest';
import { type LocalServer, startLocalServer } from '../../infra/local/server.ts';
import agents from './agents.ts';
import { type Answer, type Call, send, type Target, targetFromEnvironment } from './http-client.ts';

export interface Deployment {
  /** An agent name of this run's own, so that a deployment can be tested again and by several at once. */
  readonly agent: string;
  call(method: string, path: string, options?: Omit<Call, 'method' | 'path'>): Promise<Answer>;
  put(key: string, body: Uint8Array | string, headers?: Record<string, string>): Promise<Answer>;
  get(key: string, headers?: Record<string, string>): Promise<Answer>;
}

/** The deployment under test of one test file: the one that the environment names, else a local server in memory. */
export function deployment(): Deployment {
  let target: Target | undefined = targetFromEnvironment();
  let local: LocalServer | undefined;
  const agent = `e2e-${randomBytes(6).toString('hex')}`;

  beforeAll(async () => {
    if (target !== undefined) return;
    local = await startLocalServer({ port: 0, quiet: true, agents });
    target = { url: local.url, signed: false };
  });
  afterAll(() => local?.close());

  const call: Deployment['call'] = (method, path, options) => {
    if (target === undefined) throw new Error('the deployment is not up yet');
    return send(target, { method, path, ...options });
  };
  const pathOf = (key: string) =>
    `/v1/agents/${agent}/instances/${key.split('/').map(encodeURIComponent).join('/')}`;
  return {
    agent,
    call,
    put: (key, body, headers = { 'content-type': 'application/json' }) =>
      call('PUT', pathOf(key), { body, headers }),
    get: (key, headers = {}) => call('GET', pathOf(key), { headers }),
  };
}
