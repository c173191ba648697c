import type { RunMessage } from './run-message.ts';

/** Brings messages to workers, at least once each, in any order. */
export interface RunQueue {
  /** Rejects `UnavailableError` when not all were taken; some may have been, so that they come twice when sent again. */
  send(messages: readonly RunMessage[]): Promise<void>;
  /**
   * Has a delivery that failed come again in so many seconds, where the queue would take a time of its own. `receipt`
   * names the delivery. Rejects `UnavailableError`.
   */
  redeliver?(receipt: string, secs: number): Promise<void>;
}
