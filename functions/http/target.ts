import type { AgentDefinition } from '../../lib/agents/agent-definition.ts';
import { agentNamePattern } from '../../lib/agents/define-agent.ts';
import { agentNameMaxChars, keyMaxBytes } from '../../lib/defaults.ts';
import { InvalidKeyError } from '../../lib/errors.ts';
import { isUnsafeInPath, unreachableBy } from '../../lib/input.ts';
import type { PersistenceConfig } from '../../lib/persistence/persistence-config.ts';
import type { SnapshotCatalog } from '../../lib/persistence/snapshot-store.ts';
import { persistenceOf, type Services } from '../services.ts';
import { scopeOf, tenantBytes, tenantMaxBytes } from '../tenancy.ts';
import { HttpError } from './http-error.ts';
import type { HttpRequest } from './request.ts';

/** The agent that a request names, and where its instances are kept for this caller. */
export interface AgentTarget {
  readonly name: string;
  /** Unset for an agent that is not in the agents module: it has no callbacks. */
  readonly definition: AgentDefinition | undefined;
  /** Unset where there are no tenants. */
  readonly tenant: string | undefined;
  readonly scope: string;
  readonly persistence: PersistenceConfig<SnapshotCatalog>;
}

export function agentTarget(request: HttpRequest, services: Services): AgentTarget {
  const { agents, strictAgents, tenantClaim } = services;
  const name = request.parameters.agent ?? '';
  if (!agentNamePattern.test(name)) {
    throw new InvalidKeyError(
      `an agent's name is 1 to ${agentNameMaxChars} letters, digits, '.', '_' and '-', and begins with a letter or digit`,
    );
  }
  const definition = agents.get(name);
  if (strictAgents && definition === undefined) {
    throw new HttpError('unknown_agent', `no agent is named '${name}'`);
  }
  const tenant = tenantOf(request, tenantClaim);
  const scope = scopeOf(tenant, name);
  return {
    ...{ name, definition, tenant, scope },
    // Not every function that asks for an agent may use its snapshots.
    get persistence() {
      return persistenceOf(services, scope);
    },
  };
}

/** With a tenant claim every caller lives in a space of its own: no agent or key reaches another tenant's. */
function tenantOf({ claims }: HttpRequest, tenantClaim: string | undefined): string | undefined {
  if (tenantClaim === undefined) return undefined;
  const refused = (problem: string) =>
    new HttpError('forbidden', `the claim '${tenantClaim}' of the token ${problem}`);
  const tenant = claims[tenantClaim];
  if (typeof tenant !== 'string' || tenant === '') throw refused('is missing, or is no text');
  // UTF-8 would make one tenant of several.
  if (!tenant.isWellFormed()) throw refused('holds half of a surrogate pair');
  const bytes = tenantBytes(tenant);
  if (bytes > tenantMaxBytes)
    throw refused(`takes ${bytes} bytes, the limit is ${tenantMaxBytes} (%, / and ~ take five each)`);
  return tenant;
}

/** The instance key of a path. Refuses what an HTTP API cannot carry unambiguously, alike on every method. */
export function instanceKey({ parameters }: HttpRequest): string {
  const key = checkedPart('a key', parameters.key);
  if (key.split('/').some((segment) => segment === '' || segment === '.' || segment === '..')) {
    throw new InvalidKeyError("a key in a path has no segment that is empty, '.' or '..'");
  }
  return key;
}

/** The session of a path: as a key, without `/`. */
export function sessionId({ parameters }: HttpRequest): string {
  return segment('a session', parameters.session);
}

/** The identity whose user data a path names. */
export function identityId({ parameters }: HttpRequest): string {
  return segment('an identity', parameters.identity);
}

/** The key of a value of user data or knowledge. */
export function valueKey({ parameters }: HttpRequest): string {
  return segment('a key', parameters.key);
}

function segment(what: string, part: string | undefined): string {
  const id = checkedPart(what, part);
  const problem = unreachableBy(id);
  if (problem !== undefined) throw new InvalidKeyError(`${what} in a path ${problem}`);
  return id;
}

function checkedPart(what: string, part = ''): string {
  const bytes = Buffer.byteLength(part);
  if (bytes > keyMaxBytes)
    throw new InvalidKeyError(`${what} has ${bytes} UTF-8 bytes, the limit is ${keyMaxBytes}`);
  if (isUnsafeInPath(part)) {
    throw new InvalidKeyError(
      `${what} in a path holds no control character, percent sign, ?, # or backslash`,
    );
  }
  return part;
}
