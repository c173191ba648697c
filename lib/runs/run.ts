export type RunStatus = 'running' | 'completed' | 'failed' | 'skipped';

export type RunTrigger = 'schedule' | 'request';

/** Sessions of which a run has a job, and how those jobs ended: `sessions` is `ok` + `failed`. */
export interface RunTotals {
  readonly sessions: number;
  readonly ok: number;
  readonly failed: number;
}

/** One pass of an action over the sessions of an agent. */
export interface Run extends RunTotals {
  readonly runId: string;
  readonly agent: string;
  readonly action: string;
  readonly trigger: RunTrigger;
  /** The name of the schedule whose tick started it. */
  readonly schedule?: string | undefined;
  readonly status: RunStatus;
  /** Why it failed or was skipped. */
  readonly reason?: string | undefined;
  readonly startedAt: Date;
  readonly finishedAt?: Date | undefined;
}

/** What happens to a run that is to start while another one of the same action is still going. */
export type Overlap = 'skip' | 'allow';

/** A run with what the engine needs to carry it on. */
export interface StoredRun extends Run {
  readonly overlap: Overlap;
  /** The only sessions that it is to visit; all registered ones where unset. */
  readonly only?: readonly string[] | undefined;
  /** Every one of its messages was sent. */
  readonly dispatched: boolean;
  /** Shards that are not finished, in ascending order. */
  readonly pending: readonly number[];
}
