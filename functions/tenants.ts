import { createRuntime } from '../lib/sessions/create-runtime.ts';
import { runtimeStores } from './runtime-stores.ts';
import type { Services } from './services.ts';
import { scopeOf, tenantsOf } from './tenancy.ts';

/** Every scope that sessions of an agent may be in: the agent itself, or with tenants that of each which has some. */
export async function* scopesOf(agent: string, services: Services): AsyncGenerator<string> {
  if (services.tenantClaim === undefined) {
    yield scopeOf(undefined, agent);
    return;
  }
  const tenants = createRuntime(tenantsOf(agent), { stores: runtimeStores(services) });
  for await (const { id } of tenants.listRegisteredSessions()) yield scopeOf(id, agent);
}

/**
 * Before a tenant's first session of an agent is registered: jobs must find it. Past the runtime, which takes only ids
 * that a path can carry: a tenant is whatever its claim says.
 */
export async function rememberTenant(agent: string, tenant: string, services: Services): Promise<void> {
  const { sessions } = runtimeStores(services);
  await sessions.register(tenantsOf(agent), { id: tenant, meta: {}, at: new Date() });
}
