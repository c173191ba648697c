import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { defineAgent, orThrow } from '../../lib/index.ts';
import { capturedLog } from '../support/captured-log.ts';
import { request } from '../support/every-route.ts';
import { type LifecycleFunctions, lifecycleFunctions } from '../support/lifecycle-functions.ts';

interface Counting {
  readonly turns: number;
}

const definitions = [
  defineAgent({
    name: 'support',
    load: (dump): Counting => dump,
    actions: {
      count: async (session, { instance, agent }) => {
        const { version } = orThrow(
          await instance().update((current) => ({ turns: (current?.turns ?? 0) + 1 })),
        );
        orThrow(await agent('planner').instance(session.id).hibernate({ from: 'support' }));
        return version;
      },
    },
  }),
];

beforeEach(() => {
  capturedLog();
});
afterEach(() => {
  vi.restoreAllMocks();
});

describe.each([
  ['without tenants', undefined, [undefined]],
  ['with tenants', 'org', ['ann~b/c%', 'bob']],
])('an action that changes instances, %s', (_what, tenantClaim, orgs) => {
  let functions: LifecycleFunctions;
  beforeEach(() => {
    functions = lifecycleFunctions(definitions, { tenantClaim });
  });

  const claimsOf = (org: string | undefined) => (org === undefined ? {} : { claims: { org } });
  const call = (org: string | undefined, method: string, path: string, body?: unknown) =>
    request(method, `/v1/agents/${path}`, {
      ...claimsOf(org),
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });

  test('finds and leaves them where the API has them, each caller its own', async () => {
    for (const [at, org] of orgs.entries()) {
      expect(await call(org, 'PUT', 'support/sessions/chat', {})).toMatchObject({ status: 201 });
      expect(await call(org, 'PUT', 'support/instances/chat', { turns: 10 * at })).toMatchObject({
        status: 201,
      });
    }
    for (const org of orgs)
      expect(await call(org, 'POST', 'support/runs', { action: 'count' })).toMatchObject({ status: 202 });
    await functions.drain();

    for (const [at, org] of orgs.entries()) {
      expect((await call(org, 'GET', 'support/instances/chat')).body).toEqual({ turns: 10 * at + 1 });
      expect((await call(org, 'GET', 'planner/instances/chat')).body).toEqual({ from: 'support' });
      const { items } = (await call(org, 'GET', 'support/runs')).body;
      expect(items).toMatchObject([{ status: 'completed', ok: 1, failed: 0 }]);
    }
  });
});
