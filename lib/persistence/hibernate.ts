import type { AgentRef } from '../agents/agent-ref.ts';
import { checkState, dumpAgent } from '../agents/callbacks.ts';
import { systemClock } from '../clock.ts';
import { ttlMaxSecs } from '../defaults.ts';
import { type EncodedState, encodeState } from './codec.ts';
import { packState } from './pack.ts';
import type { PersistenceConfig } from './persistence-config.ts';
import { asPersistenceError, InvalidOptionError, type PersistenceError } from './persistence-error.ts';
import type { PutOptions } from './snapshot-store.ts';
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

export interface PersistenceFailure {
  readonly status: 'error';
  readonly error: PersistenceError;
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
    const encoded = encodeState(await dumpAgent(agent, state, key));
    return save(config, storeKey, encoded, options);
  });
}

/** As `hibernate` for a state that is bytes already: kept as sent, without the agent's callbacks. */
export async function hibernateEncoded(
  config: PersistenceConfig,
  agent: AgentRef,
  key: string,
  encoded: EncodedState,
  options: HibernateOptions = {},
): Promise<HibernateResult> {
  return attempt(async () => save(config, makeStoreKey(config, agent, key), encoded, options));
}

async function save(
  { store, clock = systemClock }: PersistenceConfig,
  storeKey: string,
  encoded: EncodedState,
  options: HibernateOptions,
): Promise<Hibernated> {
  const expiresAt = expiryOf(options.ttlSeconds, clock());
  const dump = await packState(encoded);
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

/** One ETag, a list or `'*'`, as the store takes them. An empty ETag is a mistake of the caller, never "no condition". */
export function preconditionsOf({ ifMatch, ifNoneMatch }: HibernateOptions): PutOptions {
  return { ifMatch: etagsOf('ifMatch', ifMatch), ifNoneMatch: etagsOf('ifNoneMatch', ifNoneMatch) };
}

function etagsOf(
  option: string,
  given: string | readonly string[] | undefined,
): '*' | readonly string[] | undefined {
  if (given === undefined || given === '*') return given;
  const etags = typeof given === 'string' ? [given] : given;
  if (
    !Array.isArray(etags) ||
    etags.length === 0 ||
    etags.some((etag) => typeof etag !== 'string' || etag === '')
  ) {
    throw new InvalidOptionError(`${option} must be '*' or non-empty ETags`);
  }
  return etags;
}

/** Turns what is expected to fail into a result. */
export async function attempt<Ok>(work: () => Promise<Ok>): Promise<Ok | PersistenceFailure> {
  try {
    return await work();
  } catch (thrown) {
    return { status: 'error', error: asPersistenceError(thrown) };
  }
}
