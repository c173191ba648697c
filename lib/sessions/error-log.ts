/** A failure as it is handed to the error log. */
export interface NewError {
  /** What failed, for instance the name of an action. */
  readonly where: string;
  readonly msg: string;
  readonly stack?: string | undefined;
  readonly sessionId?: string | undefined;
  readonly runId?: string | undefined;
}

export interface LoggedError extends NewError {
  readonly id: string;
  /** The time by the clock of the host where it happened. */
  readonly ts: Date;
}

export interface ErrorQuery {
  readonly agent: string;
  readonly limit: number;
  /** The `next` of the page before. */
  readonly after?: string | undefined;
  /** How many of the newest entries there are to be; what is older is not there. */
  readonly maxErrors: number;
}

export interface ErrorPage {
  readonly items: readonly LoggedError[];
  readonly next?: string | undefined;
}

/**
 * The failures of an agent, those that came last first, whatever the clocks of their hosts said: what a host whose clock
 * is ahead has recorded is not the newest for ever, and pushes nothing out that comes later. Rolling: only the newest
 * `maxErrors` are there. No entry replaces another, also when two come in the same millisecond, or from several
 * processes at once. Rejects `UnavailableError`.
 */
export interface ErrorLog {
  record(agent: string, error: NewError, options: { at: Date; maxErrors: number }): Promise<LoggedError>;
  list(query: ErrorQuery): Promise<ErrorPage>;
}
