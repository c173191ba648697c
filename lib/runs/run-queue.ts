import type { RunMessage } from './run-message.ts';

/** Brings messages to workers, at least once each, in any order. */
export interface RunQueue {
  /** Rejects `UnavailableError` when not all were taken; some may have been, so that they come twice when sent again. */
  send(messages: readonly RunMessage[]): Promise<void>;
  /**
   * As `send`, but the messages come only after so many seconds, up to 900. A queue without it has no run watched: one
   * whose messages are lost, or whose workers all died, then stays `running`.
   */
  sendLater?(messages: readonly RunMessage[], secs: number): Promise<void>;
  /**
   * Has a delivery that failed come again in so many seconds, where the queue would take a time of its own. `receipt`
   * names the delivery. Rejects `UnavailableError`.
   */
  redeliver?(receipt: string, secs: number): Promise<void>;
}
