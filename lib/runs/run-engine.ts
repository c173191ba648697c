import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { AgentDefinition } from '../agents/agent-definition.ts';
import { type Clock, systemClock } from '../clock.ts';
import {
  jobPageSize,
  runLeaseSecs,
  runSilentLooks,
  runWatchSecs,
  storageAttempts,
  storageRetryBaseMs,
} from '../defaults.ts';
import { InvalidInputError } from '../errors.ts';
import type { Secrets } from '../lifecycle/secrets.ts';
import type { JobLogger } from '../lifecycle/session-job.ts';
import type { AgentHandles } from '../persistence/agent-handle.ts';
import type { RuntimeStores } from '../runtime/create-runtime.ts';
import { type RetryOptions, withRetries } from './retry.ts';
import type { Run } from './run.ts';
import type { RunLeases } from './run-leases.ts';
import type { RunQueue } from './run-queue.ts';
import type { RunStore } from './run-store.ts';

/** The defined agents, by name: a map, or what finds them otherwise. */
export interface AgentLookup {
  get(name: string): AgentDefinition | undefined;
}

export interface RunEngineOptions {
  readonly agents: AgentLookup;
  readonly stores: RuntimeStores;
  readonly runs: RunStore;
  readonly leases: RunLeases;
  readonly queue: RunQueue;
  /** Where actions find instances of agents (see `agentHandles`). Without it, an action that asks for one fails. */
  readonly handles?: AgentHandles | undefined;
  /** Where actions find secrets that are no variables of the process. */
  readonly secrets?: Secrets | undefined;
  readonly logger?: JobLogger | undefined;
  /**
   * Told of each run that ends, by whoever ended it: completed, failed or skipped. Where several end it at the same
   * moment, each of them tells.
   */
  readonly onEnd?: ((run: Run) => void) | undefined;
  readonly clock?: Clock | undefined;
  readonly newId?: (() => string) | undefined;
  /** Jobs in a page: 100 unless given, which is the most: any page of so many fits into one item. */
  readonly pageSize?: number | undefined;
  /**
   * How long a run that shows no sign of life stands in the way of the next one: 2 hours unless given. Keep it above
   * the queue's visibility timeout, after which the message of a worker that died comes again.
   */
  readonly leaseSecs?: number | undefined;
  readonly retries?: Partial<RetryOptions> | undefined;
}

/** What dispatchers and workers work with. Made by `runEngine`. */
export interface RunEngine {
  readonly agents: AgentLookup;
  readonly stores: RuntimeStores;
  readonly runs: RunStore;
  readonly leases: RunLeases;
  readonly queue: RunQueue;
  readonly handles: AgentHandles | undefined;
  readonly secrets: Secrets | undefined;
  readonly logger: JobLogger;
  readonly onEnd: (run: Run) => void;
  readonly clock: Clock;
  readonly newId: () => string;
  readonly pageSize: number;
  readonly leaseMs: number;
  /** How often it is looked whether a run shows signs of life, and after how many looks without one it has failed. */
  readonly watchSecs: number;
  readonly silentLooks: number;
  /** Does what can be repeated, a few times where the storage is busy or away. */
  attempt<T>(work: () => Promise<T>): Promise<T>;
}

const silent: JobLogger = { info() {}, warn() {}, error() {} };

/**
 * Puts together what `startRun` and `workShard` need.
 *
 * @example
 * const engine = runEngine({
 *   agents: new Map([['support', support]]),
 *   stores: inMemoryStores(),
 *   ...inMemoryRuns(),
 *   queue: inMemoryRunQueue(),
 * });
 */
export function runEngine(options: RunEngineOptions): RunEngine {
  const { agents, stores, runs, leases, queue, handles, secrets } = options;
  const { clock = systemClock, newId = randomUUID, logger = silent, onEnd = () => {} } = options;
  const { pageSize = jobPageSize, leaseSecs = runLeaseSecs } = options;
  if (!(Number.isSafeInteger(pageSize) && pageSize > 0 && pageSize <= jobPageSize))
    throw new InvalidInputError('pageSize', `must be a whole number from 1 to ${jobPageSize}`);
  const retries: RetryOptions = {
    attempts: storageAttempts,
    baseMs: storageRetryBaseMs,
    pause: (ms) => pause(ms),
    random: Math.random,
    ...options.retries,
  };
  return {
    ...{ agents, stores, runs, leases, queue, handles, secrets, logger, onEnd, clock, newId, pageSize },
    leaseMs: leaseSecs * 1000,
    watchSecs: runWatchSecs,
    silentLooks: runSilentLooks,
    attempt: (work) => withRetries(retries, work),
  };
}
