/** What an expression comes to, whichever way it was written. */
export interface ParsedSchedule {
  /** Its AWS spelling. Several fire at the union of their times. */
  readonly expressions: readonly string[];
  /**
   * The wall-clock times (see calendar.ts) after one, ascending. Absent for a rate, which counts from the moment AWS
   * makes it and not from any clock.
   */
  readonly wallTimes?: ((after: number) => Iterable<number>) | undefined;
  /** The interval of a rate. */
  readonly everyMs?: number | undefined;
  /** A single time, which rules do not know and EventBridge Scheduler does. */
  readonly once: boolean;
}
