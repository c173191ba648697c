import type { AgentRef } from '../agents/agent-kind.ts';
import { type PersistenceConfig, storeOf } from './persistence-config.ts';
import { attempt, type PersistenceFailure } from './persistence-result.ts';
import { type GivenPreconditions, optionsError, preconditionsOf } from './preconditions.ts';
import { makeStoreKey } from './store-key.ts';

export type ForgetOptions = GivenPreconditions;
export type ForgetResult = { readonly status: 'ok' } | PersistenceFailure;

/**
 * Deletes the snapshot of (agent, key). Deleting what is not there is ok, unless `ifMatch` asks for it.
 *
 * @example
 * await forget({ store }, 'support', 'user-123');
 */
export async function forget(
  config: PersistenceConfig,
  agent: AgentRef,
  key: string,
  options: ForgetOptions = {},
): Promise<ForgetResult> {
  return attempt(async () => {
    const refused = optionsError(options);
    if (refused !== undefined) throw refused;
    await storeOf(config).delete(makeStoreKey(config, agent, key), preconditionsOf(options));
    return { status: 'ok' } as const;
  });
}
