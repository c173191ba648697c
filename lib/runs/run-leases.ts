export interface RunLease {
  readonly runId: string;
  /** The lease ends here by itself, so that a run that died does not stand in the way for ever. */
  readonly until: Date;
}

/**
 * At most one run at a time holds the lease of an action of an agent, and at most so many its places. Every failure rejects `UnavailableError`.
 */
export interface RunLeases {
  /** The last lease that was taken, over or not; undefined when it was given back. */
  holder(agent: string, action: string): Promise<RunLease | undefined>;
  /**
   * Takes the lease where it is free, over, or held by the same run, whose time it then prolongs, and never shortens:
   * that of a host whose clock was set back stays as it is. Resolves the lease that holds now: that of another run when
   * it is not free.
   */
  acquire(agent: string, action: string, lease: RunLease, now: Date): Promise<RunLease>;
  /** Gives the lease back. Nothing happens when the run does not hold it. */
  release(agent: string, action: string, runId: string): Promise<void>;
  /**
   * Takes one of `max` places of an agent for a run, which may have it already. Resolves the runs that have them all
   * where none is free: never more than `max` do, however many ask at once.
   */
  enter(agent: string, runId: string, max: number): Promise<readonly string[] | undefined>;
  /** Gives places back. Nothing happens for runs that have none. */
  leave(agent: string, runIds: readonly string[]): Promise<void>;
}
