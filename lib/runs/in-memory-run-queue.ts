import pMap from 'p-map';
import { runReceiveLimit } from '../defaults.ts';
import { parseRunMessage, type RunMessage } from './run-message.ts';
import type { RunQueue } from './run-queue.ts';

export interface InMemoryRunQueueOptions {
  /** After so many failed deliveries a message is set aside: 5 unless given. */
  readonly receiveLimit?: number | undefined;
  /** Told of every message that comes in, for a host that delivers as they come. */
  readonly onMessage?: (() => void) | undefined;
}

export interface DeadLetter {
  readonly message: RunMessage;
  /** What its last delivery failed with. */
  readonly error: unknown;
}

export interface InMemoryRunQueue extends RunQueue {
  /**
   * Delivers until nothing is left, `concurrency` messages at a time (1 unless given). A delivery that rejects is
   * repeated after those that wait, up to the receive limit.
   */
  drain(deliver: (message: RunMessage) => Promise<unknown>, concurrency?: number): Promise<void>;
  readonly waiting: number;
  readonly deadLetters: readonly DeadLetter[];
}

/**
 * A queue of this process: at least once, as the one in the cloud.
 *
 * @example
 * const queue = inMemoryRunQueue();
 * await startRun(engine, { agent: 'support', action: 'digest' });
 * await queue.drain((message) => workShard(engine, message));
 */
export function inMemoryRunQueue(options: InMemoryRunQueueOptions = {}): InMemoryRunQueue {
  const { receiveLimit = runReceiveLimit, onMessage } = options;
  const waiting: { body: string; received: number }[] = [];
  const deadLetters: DeadLetter[] = [];

  const deliverNext = async (deliver: (message: RunMessage) => Promise<unknown>) => {
    const next = waiting.shift();
    if (next === undefined) return;
    const message = parseRunMessage(next.body);
    try {
      await deliver(message);
    } catch (error) {
      const received = next.received + 1;
      if (received < receiveLimit) waiting.push({ ...next, received });
      else deadLetters.push({ message, error });
    }
  };

  return {
    async send(messages) {
      for (const message of messages) waiting.push({ body: JSON.stringify(message), received: 0 });
      onMessage?.();
    },
    async drain(deliver, concurrency = 1) {
      while (waiting.length > 0)
        await pMap(Array.from({ length: waiting.length }), () => deliverNext(deliver), { concurrency });
    },
    get waiting() {
      return waiting.length;
    },
    deadLetters,
  };
}
