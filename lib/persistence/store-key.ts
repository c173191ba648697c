import { type AgentRef, agentName } from '../agents/agent-kind.ts';
import { keyMaxBytes } from '../defaults.ts';
import { InvalidKeyError } from '../errors.ts';

export interface KeyConfig {
  /** Names the place of an instance in the store yourself. Two instances must never get one key. */
  readonly keyFn?: ((agentName: string, key: string) => string) | undefined;
}

function checkPart(what: string, value: unknown): asserts value is string {
  if (typeof value !== 'string' || value === '')
    throw new InvalidKeyError(`the ${what} must be a non-empty string`);
  if (!value.isWellFormed())
    throw new InvalidKeyError(`the ${what} holds half of a surrogate pair, which UTF-8 cannot carry`);
  const bytes = Buffer.byteLength(value);
  if (bytes > keyMaxBytes)
    throw new InvalidKeyError(`the ${what} is ${bytes} bytes, the limit is ${keyMaxBytes}`);
}

/** Escapes what parts a store key, so that a scope holds no `/` and different names stay different. */
export function storeKeyScope(...names: string[]): string {
  return names.map((name) => name.replace(/[%/~]/g, encodeReserved)).join('~');
}

function encodeReserved(character: string): string {
  return `%${character.charCodeAt(0).toString(16).toUpperCase()}`;
}

/**
 * The key under which a store keeps an instance: the agent's name, escaped, then `/`, then the instance key as it is.
 * Injective: the first `/` always ends the agent's name, so no two (agent, key) pairs share a store key.
 *
 * @throws InvalidKeyError for an empty part, or one above 512 UTF-8 bytes
 * @example
 * makeStoreKey({}, 'support', 'org/user-1'); // 'support/org/user-1'
 * makeStoreKey({}, 'a/b', 'c');              // 'a%2Fb/c'
 */
export function makeStoreKey(config: KeyConfig, agent: AgentRef, key: string): string {
  const name = agentName(agent);
  checkPart('agent name', name);
  checkPart('instance key', key);
  if (config.keyFn === undefined) return `${storeKeyScope(name)}/${key}`;
  const storeKey = config.keyFn(name, key);
  if (typeof storeKey !== 'string' || storeKey === '' || !storeKey.isWellFormed()) {
    throw new InvalidKeyError('keyFn must return a non-empty string without half surrogate pairs');
  }
  return storeKey;
}
