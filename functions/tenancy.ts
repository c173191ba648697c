import { agentNameMaxChars, keyMaxBytes, partitionKeyMaxBytes } from '../lib/defaults.ts';
import { storeKeyScope } from '../lib/persistence/store-key.ts';

/** Where an agent's things are kept: with tenants, each has a space of its own that no other's names reach. */
export function scopeOf(tenant: string | undefined, agent: string): string {
  return tenant === undefined ? storeKeyScope(agent) : storeKeyScope(tenant, agent);
}

/**
 * What a tenant may take of a key, as `tenantBytes` counts. The longest key that bears one is that of a session's memory,
 * `memory/tenant~agent~session/`, with an agent of 128 characters and a session of 512 bytes that are all escaped to
 * three: so what can hibernate can register, remember and run.
 */
export const tenantMaxBytes =
  partitionKeyMaxBytes - 'memory/'.length - escaped('~') - agentNameMaxChars - '~'.length - 3 * keyMaxBytes;

/** UTF-8 bytes as they are stored: `%`, `/` and `~` are escaped in a scope, and the scope again in the keys of memory. */
export function tenantBytes(tenant: string): number {
  return escaped(storeKeyScope(tenant));
}

function escaped(name: string): number {
  return Buffer.byteLength(storeKeyScope(name));
}

/** The agent of a scope: its last part, of whose characters none is escaped. */
export function agentOfScope(scope: string): string {
  return scope.slice(scope.lastIndexOf('~') + 1);
}

/** The tenant of a scope, as its claim has it; undefined where there are no tenants. */
export function tenantOfScope(scope: string): string | undefined {
  const end = scope.lastIndexOf('~');
  if (end === -1) return undefined;
  const codes: Readonly<Record<string, string>> = { '%25': '%', '%2F': '/', '%7E': '~' };
  return scope.slice(0, end).replace(/%(?:25|2F|7E)/g, (code) => codes[code] ?? code);
}

/** Under this name the tenants of an agent are registered, each as a session. No tenant's scope has an empty first part. */
export function tenantsOf(agent: string): string {
  return storeKeyScope('', 'tenants', agent);
}
