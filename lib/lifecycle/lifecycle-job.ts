/** Why a session's job did not succeed. */
export interface JobError {
  /** What the handler did: returned or threw `failed(...)`, likewise `cancelled(...)`, threw something else, or took too long. */
  readonly kind: 'failed' | 'cancelled' | 'thrown' | 'timed_out';
  readonly reason: string;
}

/** The record of one action on one session. */
export interface LifecycleJob {
  readonly sessionId: string;
  readonly action: string;
  readonly ok: boolean;
  /** What the handler returned; `null` for nothing. */
  readonly result: unknown;
  readonly error: JobError | null;
}
