import pMap from 'p-map';
import { deadLettersKept, runReceiveLimit } from '../defaults.ts';
import { formatRunMessage, parseRunMessage, type RunMessage } from '../runs/run-message.ts';
import type { RunQueue } from '../runs/run-queue.ts';

export interface InMemoryRunQueueOptions {
  /** After so many failed deliveries a message is dead-lettered: 5 unless given. */
  readonly receiveLimit?: number | undefined;
  /** How long a message waits after a delivery that failed: it comes again at once unless given. */
  readonly redeliveryMs?: number | undefined;
  /** Does something later: a timer that keeps no process alive, unless given. */
  readonly later?: ((then: () => void, ms: number) => void) | undefined;
  /** Told of every message that comes in or back, for a host that delivers as they come. */
  readonly onMessage?: (() => void) | undefined;
  /** Messages that were dead-lettered and are kept, the newest ones: 1,000 unless given. */
  readonly deadLettersKept?: number | undefined;
  /** Told of every message that is dead-lettered. */
  readonly onDeadLetter?: ((letter: DeadLetter) => void) | undefined;
}

/** Works on a message that is delivered for the `received`th time, counted from 1. */
export type Deliver = (message: RunMessage, received: number) => Promise<unknown>;

export interface DeadLetter {
  readonly message: RunMessage;
  /** What its last delivery failed with. */
  readonly error: unknown;
}

export interface InMemoryRunQueue extends RunQueue {
  /**
   * Delivers until nothing is left, `concurrency` messages at a time (1 unless given). A delivery that rejects is
   * repeated after those that wait, up to the receive limit; it is not waited for where `redeliveryMs` is given.
   */
  drain(deliver: Deliver, concurrency?: number): Promise<void>;
  readonly waiting: number;
  /** The oldest one first. */
  readonly deadLetters: readonly DeadLetter[];
}

interface Waiting {
  readonly body: string;
  readonly received: number;
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
  const { receiveLimit = runReceiveLimit, redeliveryMs = 0, onMessage, onDeadLetter } = options;
  const { deadLettersKept: kept = deadLettersKept } = options;
  const { later = (then, ms) => void setTimeout(then, ms).unref() } = options;
  const waiting: Waiting[] = [];
  const deadLetters: DeadLetter[] = [];

  const redeliver = (again: Waiting) => {
    waiting.push(again);
    onMessage?.();
  };

  const push = (messages: readonly RunMessage[]) => {
    for (const message of messages) waiting.push({ body: formatRunMessage(message), received: 0 });
    onMessage?.();
  };

  const setAside = (letter: DeadLetter) => {
    deadLetters.push(letter);
    if (deadLetters.length > kept) deadLetters.shift();
    onDeadLetter?.(letter);
  };

  const deliverNext = async (deliver: Deliver) => {
    const next = waiting.shift();
    if (next === undefined) return;
    const message = parseRunMessage(next.body);
    const received = next.received + 1;
    try {
      await deliver(message, received);
    } catch (error) {
      const again = { ...next, received };
      if (received >= receiveLimit) setAside({ message, error });
      else if (redeliveryMs > 0) later(() => redeliver(again), redeliveryMs);
      else redeliver(again);
    }
  };

  return {
    async send(messages) {
      push(messages);
    },
    async sendLater(messages, secs) {
      later(() => push(messages), secs * 1000);
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
