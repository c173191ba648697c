import { randomUUID } from 'node:crypto';
import { eachSession } from '../lib/sessions/list-sessions.ts';
import type { Session } from '../lib/sessions/session.ts';
import { runtimeStores } from './runtime-stores.ts';
import type { Services } from './services.ts';
import { scopeOf, tenantsOf } from './tenancy.ts';

/*
 * The tenants of an agent are registered as sessions of a scope that nobody else has, so that jobs find them. Past the
 * runtime, which takes only ids that a path can carry: a tenant is whatever its claim says.
 *
 * A tenant without sessions is removed by the next tick, and must not be where it registers one at that moment: each
 * registration has a mark of its own, and only the one that was seen is removed. A session's first registration marks
 * its tenant before, so that a crash leaves no session that jobs do not find, and after, so that a removal that looked
 * for sessions before this one was there either fails or is undone.
 */

const pageSize = 100;

/** A scope that sessions of an agent may be in, and with tenants its tenant as it was registered. */
export interface AgentScope {
  readonly scope: string;
  readonly tenant?: Session | undefined;
}

/** Every scope of an agent: the agent itself, or with tenants that of each which has registered a session. */
export async function* agentScopes(agent: string, services: Services): AsyncGenerator<AgentScope> {
  if (services.tenantClaim === undefined) {
    yield { scope: scopeOf(undefined, agent) };
    return;
  }
  const { sessions } = runtimeStores(services);
  for await (const tenant of eachSession(sessions, tenantsOf(agent), pageSize))
    yield { scope: scopeOf(tenant.id, agent), tenant };
}

export async function* scopesOf(agent: string, services: Services): AsyncGenerator<string> {
  for await (const { scope } of agentScopes(agent, services)) yield scope;
}

/** Before a tenant's session is registered, and again after its first registration. */
export async function rememberTenant(agent: string, tenant: string, services: Services): Promise<void> {
  const { sessions } = runtimeStores(services);
  await sessions.register(tenantsOf(agent), { id: tenant, meta: { mark: randomUUID() }, at: new Date() });
}

/** Removes a tenant that has no sessions left, and resolves whether it had none. No tenant: nothing to remove. */
export async function removeIfEmpty(
  agent: string,
  { scope, tenant }: AgentScope,
  services: Services,
): Promise<boolean> {
  if (tenant === undefined) return false;
  const { sessions } = runtimeStores(services);
  for await (const _session of eachSession(sessions, scope, 1)) return false;
  await sessions.deregister(tenantsOf(agent), tenant.id, tenant);
  return true;
}
