import type { LifecycleJob } from '../lifecycle/lifecycle-job.ts';
import type { RunStatus, RunTotals, StoredRun } from './run.ts';

export interface RunRef {
  readonly agent: string;
  readonly runId: string;
}

export interface ShardRef extends RunRef {
  readonly shard: number;
}

export type NewRun = Omit<StoredRun, 'status' | 'reason' | 'finishedAt' | 'dispatched' | keyof RunTotals>;

export interface RunQuery {
  readonly agent: string;
  readonly action?: string | undefined;
  readonly limit: number;
  /** The `next` of the page before. */
  readonly after?: string | undefined;
}

export interface RunPage {
  readonly items: readonly StoredRun[];
  readonly next?: string | undefined;
}

export interface JobQuery extends RunRef {
  /** Only jobs that succeeded, or only those that did not. */
  readonly ok?: boolean | undefined;
  readonly limit: number;
  readonly after?: string | undefined;
}

export interface JobPage {
  readonly items: readonly LifecycleJob[];
  readonly next?: string | undefined;
}

/**
 * Which message works on a shard. `dispatchId` tells apart messages that were sent for the same shard by two dispatchers;
 * `handOvers` counts how often the shard was handed over in a new message.
 */
export interface ShardClaim {
  readonly dispatchId: string;
  readonly handOvers: number;
}

/** How far a shard has come: what its committed pages add up to. */
export interface ShardProgress extends RunTotals {
  readonly pages: number;
  /** The last session that has a job. */
  readonly cursor?: string | undefined;
  readonly done: boolean;
  /** Failures that could not be written to the error log. */
  readonly unrecorded: number;
}

/** The jobs of the next page of a shard, and where the shard is after them. */
export interface ShardPage {
  readonly jobs: readonly LifecycleJob[];
  readonly cursor?: string | undefined;
  readonly done: boolean;
  readonly unrecorded: number;
  /** Tells the page of one worker from that of another. */
  readonly writer: string;
}

/**
 * Runs, their jobs, and how far each shard is. Every failure rejects `UnavailableError`; a run that is not there
 * rejects `RunNotFoundError` unless a method says otherwise. Every write can be repeated: it takes effect once.
 */
export interface RunStore {
  /** Resolves the run that is there, and leaves it as it is, where there is one of this id. */
  create(run: NewRun): Promise<{ readonly run: StoredRun; readonly created: boolean }>;
  /** Resolves undefined when there is none. The totals are those of finished shards; see `currentTotals`. */
  get(run: RunRef): Promise<StoredRun | undefined>;
  /** Newest first: by the time in the run's id. Totals as `get`. */
  list(query: RunQuery): Promise<RunPage>;
  /** Settles that a run starts, and is not skipped any more. Resolves it as it is now: one that has ended stays so. */
  admit(run: RunRef): Promise<StoredRun>;
  markDispatched(run: RunRef): Promise<void>;
  /**
   * Ends a run that is still running, and resolves it as it is now. One that was admitted cannot be skipped. What its
   * shards still commit counts.
   */
  end(
    run: RunRef,
    end: { readonly status: Exclude<RunStatus, 'running'>; readonly reason?: string; readonly at: Date },
  ): Promise<StoredRun>;

  /** Gives the shard to the message that asks first. Resolves whose it is. */
  claimShard(shard: ShardRef, claim: ShardClaim): Promise<ShardClaim>;
  /** Hands a shard that is claimed so on to the message of the next handOvers. */
  handOver(shard: ShardRef, claim: ShardClaim): Promise<void>;
  progress(shard: ShardRef): Promise<ShardProgress>;
  /**
   * Writes the page that follows `progress`: its jobs, the cursor and the totals in one, so that no crash parts them.
   * Resolves the progress after it; undefined, and nothing was written, when another writer has committed that page.
   */
  commitPage(shard: ShardRef, progress: ShardProgress, page: ShardPage): Promise<ShardProgress | undefined>;
  /**
   * Adds the totals of a shard to those of its run, once, however often it is called. With the last shard
   * the run ends: `completed`, or `failed` where failures could not be recorded or a shard was not done, which is how
   * one is given up. Resolves the run as it is now.
   */
  finishShard(shard: ShardRef, progress: ShardProgress, at: Date): Promise<StoredRun>;

  /** The jobs of a run, in an order that does not change: shard by shard, in each as its sessions are listed. */
  listJobs(query: JobQuery): Promise<JobPage>;
}
