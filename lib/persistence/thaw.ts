import type { AgentKind, AgentOf, AgentRef } from '../agents/agent-kind.ts';
import { loadAgent } from './callbacks.ts';
import { decodeState } from './codec.ts';
import { unpackState } from './pack.ts';
import { type PersistenceConfig, storeOf } from './persistence-config.ts';
import { attempt, type PersistenceFailure } from './persistence-result.ts';
import type { Snapshot } from './snapshot-store.ts';
import { makeStoreKey } from './store-key.ts';

export interface Thawed<Agent> {
  readonly status: 'ok';
  readonly agent: Agent;
  readonly etag: string;
  readonly version: number;
  readonly updatedAt: Date;
}

/**
 * `not_found` means that nothing is stored (or that it expired). Anything that went wrong is `error`: a caller who took
 * it for "nothing stored" would start a fresh agent and overwrite the old one.
 */
export type ThawResult<Agent> = Thawed<Agent> | { readonly status: 'not_found' } | PersistenceFailure;

/**
 * Reads the snapshot of (agent, key) and brings it to life through the agent's `load`.
 *
 * @example
 * const found = await thaw<SupportState>({ store }, 'support', 'user-123');
 * if (found.status === 'error') throw found.error;
 * const agent = found.status === 'ok' ? found.agent : freshAgent();
 */
export async function thaw<Definition extends AgentKind>(
  config: PersistenceConfig,
  agent: Definition,
  key: string,
): Promise<ThawResult<AgentOf<Definition>>>;
export async function thaw<Agent = unknown>(
  config: PersistenceConfig,
  agent: AgentRef,
  key: string,
): Promise<ThawResult<Agent>>;
export async function thaw<Agent>(
  config: PersistenceConfig,
  agent: AgentRef,
  key: string,
): Promise<ThawResult<Agent>> {
  return attempt(async () => {
    const snapshot = await storeOf(config).get(makeStoreKey(config, agent, key));
    if (snapshot === undefined) return { status: 'not_found' } as const;
    const live = (await wakeSnapshot(agent, key, snapshot)) as Agent;
    const { etag, version, updatedAt } = snapshot;
    return { status: 'ok', agent: live, etag, version, updatedAt } as const;
  });
}

/** The live form of a stored snapshot. Rejects `CorruptError` or `LoadFailedError`. */
export async function wakeSnapshot(
  agent: AgentRef,
  key: string,
  { format, dump }: Snapshot,
): Promise<unknown> {
  return loadAgent(agent, decodeState(format, await unpackState(dump)), key);
}
