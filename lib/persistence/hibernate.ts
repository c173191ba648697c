import type { AgentRef } from '../agents/agent-ref.ts';
import { systemClock } from '../clock.ts';
import { ttlMaxSecs } from '../defaults.ts';
import { checkState, dumpAgent, hasDump } from './callbacks.ts';
import { type EncodedState, encodeState } from './codec.ts';
import { packState } from './pack.ts';
import type { PersistenceConfig } from './persistence-config.ts';
import { InvalidOptionError } from './persistence-error.ts';
import { attempt, type PersistenceFailure } from './persistence-result.ts';
import { preconditionsOf } from './preconditions.ts';
import { makeStoreKey } from './store-key.ts';

export interface HibernateOptions {
  /** Save only over this very snapshot (one of these ETags; `'*'`: over any). */
  readonly ifMatch?: string | readonly string[] | undefined;
  /** `'*'`: save only where nothing is stored. ETags: save unless one of them is stored. */
  readonly ifNoneMatch?: string | readonly string[] | undefined;
  /** Whole seconds until the snapshot expires. Without it, it never does. */
  readonly ttlSeconds?: number | undefined;
}

export interface Hibernated {
  readonly status: 'ok';
  readonly etag: string;
  readonly version: number;
  /** Size of the state, and of what is stored of it, in bytes. */
  readonly bytes: number;
  readonly storedBytes: number;
  /** Nothing was stored under the key before. */
  readonly created: boolean;
  readonly updatedAt: Date;
  readonly expiresAt?: Date | undefined;
}

export type HibernateResult = Hibernated | PersistenceFailure;

/**
 * Stores an agent's state under (agent, key), replacing the snapshot that was there. The state must fit the agent's
 * schema and goes through its `dump`. On any error the stored snapshot is the one before.
 *
 * @example
 * const saved = await hibernate({ store }, 'support', 'user-123', { mood: 'calm', seen: new Set([1]) });
 * if (saved.status === 'error') throw saved.error;
 * await hibernate({ store }, 'support', 'user-123', next, { ifMatch: saved.etag });
 */
export async function hibernate(
  config: PersistenceConfig,
  agent: AgentRef,
  key: string,
  state: unknown,
  options: HibernateOptions = {},
): Promise<HibernateResult> {
  return attempt(async () => {
    const storeKey = makeStoreKey(config, agent, key);
    await checkState(agent, state);
    return save(config, storeKey, encodeState(await dumpAgent(agent, state, key)), options);
  });
}

/** A state that came as bytes, and what they mean to the agent's callbacks (undefined for opaque ones). */
export interface SentState extends EncodedState {
  readonly value: unknown;
}

/** As `hibernate`, for a state that came as bytes: without a `dump`, which would change it, they are kept as they were sent. */
export async function hibernateSent(
  config: PersistenceConfig,
  agent: AgentRef,
  key: string,
  sent: SentState,
  options: HibernateOptions = {},
): Promise<HibernateResult> {
  if (hasDump(agent)) return hibernate(config, agent, key, sent.value, options);
  return attempt(async () => {
    const storeKey = makeStoreKey(config, agent, key);
    await checkState(agent, sent.value);
    return save(config, storeKey, sent, options);
  });
}

async function save(
  { store, clock = systemClock, accept }: PersistenceConfig,
  storeKey: string,
  encoded: EncodedState,
  options: HibernateOptions,
): Promise<Hibernated> {
  const expiresAt = expiryOf(options.ttlSeconds, clock());
  const dump = await packState(encoded);
  await accept?.(dump);
  const receipt = await store.put(storeKey, dump, { ...preconditionsOf(options), expiresAt });
  return { status: 'ok', bytes: dump.bytes, storedBytes: dump.data.length, expiresAt, ...receipt };
}

function expiryOf(ttlSeconds: number | undefined, now: Date): Date | undefined {
  if (ttlSeconds === undefined) return undefined;
  if (!Number.isSafeInteger(ttlSeconds) || ttlSeconds < 1 || ttlSeconds > ttlMaxSecs) {
    throw new InvalidOptionError(`ttlSeconds must be whole seconds from 1 to ${ttlMaxSecs}`);
  }
  return new Date(now.getTime() + ttlSeconds * 1000);
}
