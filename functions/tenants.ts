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

/** Before a tenant's first session of an agent is registered: jobs must find it. */
export async function rememberTenant(agent: string, tenant: string, services: Services): Promise<void> {
  await createRuntime(tenantsOf(agent), { stores: runtimeStores(services) }).registerSession(tenant);
}
