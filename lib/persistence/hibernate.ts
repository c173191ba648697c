import type { AgentOf, AgentRef } from '../agents/agent-kind.ts';
import { systemClock } from '../clock.ts';
import { ttlMaxSecs } from '../defaults.ts';
import { InvalidOptionError, InvalidStateError } from '../errors.ts';
import { fieldsOf } from '../input.ts';
import { checkState, dumpNow, hasDump } from './callbacks.ts';
import { type EncodedState, encodeState, type Identity } from './codec.ts';
import { packState } from './pack.ts';
import { type PersistenceConfig, storeOf } from './persistence-config.ts';
import { attempt, type PersistenceFailure } from './persistence-result.ts';
import { optionsError, preconditionsOf } from './preconditions.ts';
import type { Preconditions } from './snapshot-store.ts';
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
 * What is stored is the state at the call, under the options at the call: it, or what `dump` returned, is encoded before anything is waited for. `dump`
 * is called at once, also beside a schema that answers later.
 *
 * @example
 * const saved = await hibernate({ store }, 'support', 'user-123', { mood: 'calm', seen: new Set([1]) });
 * if (saved.status === 'error') throw saved.error;
 * await hibernate({ store }, 'support', 'user-123', next, { ifMatch: saved.etag });
 */
export async function hibernate<Ref extends AgentRef>(
  config: PersistenceConfig,
  agent: Ref,
  key: string,
  state: AgentOf<Ref>,
  options: HibernateOptions = {},
): Promise<HibernateResult> {
  return saveEncoded(config, agent, key, state, options, 'kept');
}

async function saveEncoded(
  config: PersistenceConfig,
  agent: AgentRef,
  key: string,
  state: unknown,
  options: HibernateOptions,
  identity: Identity,
): Promise<HibernateResult> {
  return attempt(async () => {
    storeOf(config);
    const storeKey = makeStoreKey(config, agent, key);
    const wanted = checkOptions(options);
    assertIsState(state);
    const checked = checkState(agent, state);
    const encoded = encodedDump(agent, key, state, identity);
    // Its failure is told below, unless the check fails: then nobody asks for it.
    encoded.catch(() => undefined);
    await checked;
    return save(config, storeKey, await encoded, wanted);
  });
}

/** Not defined where a caller forgot something: stored, it would replace an agent by nothing. */
function assertIsState(state: unknown): void {
  if (state === undefined) throw new InvalidStateError('the state is undefined, at $', { path: '$' });
}

/** Waits for nothing but a `dump` that is asynchronous. */
async function encodedDump(
  agent: AgentRef,
  key: string,
  state: unknown,
  identity: Identity,
): Promise<EncodedState> {
  // A state that is a promise itself is no state: only what `dump` returned is waited for.
  if (!hasDump(agent)) return encodeState(state, identity);
  const dumped = dumpNow(agent, state, key);
  return encodeState(dumped instanceof Promise ? await dumped : dumped, identity);
}

/** A state that came as bytes, and what they mean to the agent's callbacks (undefined for opaque ones). */
export interface SentState extends EncodedState {
  readonly value: unknown;
}

/**
 * As `hibernate`, for a state that came as bytes: without a `dump`, which would change it, they are kept as they were
 * sent. What `dump` makes of JSON is JSON again, if JSON can carry it.
 */
export async function hibernateSent(
  config: PersistenceConfig,
  agent: AgentRef,
  key: string,
  sent: SentState,
  options: HibernateOptions = {},
): Promise<HibernateResult> {
  if (hasDump(agent)) {
    const identity = sent.format === 'json' ? 'dropped' : 'kept';
    return saveEncoded(config, agent, key, sent.value, options, identity);
  }
  return attempt(async () => {
    storeOf(config);
    const storeKey = makeStoreKey(config, agent, key);
    const wanted = checkOptions(options);
    if (sent.format !== 'bytes') assertIsState(sent.value);
    await checkState(agent, sent.value);
    return save(config, storeKey, sent, wanted);
  });
}

async function save(
  config: PersistenceConfig,
  storeKey: string,
  encoded: EncodedState,
  { ttlSeconds, ...preconditions }: CheckedOptions,
): Promise<Hibernated> {
  const { clock = systemClock, accept } = config;
  const expiresAt = ttlSeconds === undefined ? undefined : new Date(clock().getTime() + ttlSeconds * 1000);
  const dump = await packState(encoded);
  await accept?.(dump);
  const receipt = await config.store.put(storeKey, dump, { ...preconditions, expiresAt });
  return { status: 'ok', bytes: dump.bytes, storedBytes: dump.data.length, expiresAt, ...receipt };
}

interface CheckedOptions extends Preconditions {
  readonly ttlSeconds: number | undefined;
}

const optionNames = fieldsOf<HibernateOptions>()({ ifMatch: 1, ifNoneMatch: 1, ttlSeconds: 1 });

/** The options as they are at the call, as the state is. */
function checkOptions(options: HibernateOptions): CheckedOptions {
  const refused = optionsError(options, optionNames);
  if (refused !== undefined) throw refused;
  const { ttlSeconds, ...preconditions } = options;
  if (ttlSeconds !== undefined && !isTtl(ttlSeconds))
    throw new InvalidOptionError(`ttlSeconds must be whole seconds from 1 to ${ttlMaxSecs}`);
  return { ttlSeconds, ...preconditionsOf(preconditions) };
}

function isTtl(seconds: number): boolean {
  return Number.isSafeInteger(seconds) && seconds >= 1 && seconds <= ttlMaxSecs;
}
