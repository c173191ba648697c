import { handler } from '../../functions/lifecycle/work.ts';
import { type Services, useServices } from '../../functions/services.ts';
import {
  type DeadLetter,
  type Deliver,
  type InMemoryRunQueue,
  inMemoryRunQueue,
} from '../../lib/in-memory/run-queue.ts';
import { messageOf } from '../../lib/message-of.ts';
import { formatRunMessage } from '../../lib/runs/run-message.ts';
import { workerTimeoutSecs } from '../service-functions.ts';
import { invocation, sqsEvent } from './sqs-event.ts';

/** What a worker has for a message. */
const workerTimeoutMs = workerTimeoutSecs * 1000;

/** Messages worked on at the same time: fewer than in the stack, on a machine that does other things too. */
const concurrency = 4;

/** A message that failed waits, so that trouble is not made worse by hammering on it. */
const redeliveryMs = 1_000;

export interface RunPump {
  readonly queue: InMemoryRunQueue;
  /** Messages that came before wait until now. */
  start(services: Services): void;
  /** Takes no more messages, and waits for those under way, but not longer than that. */
  close(maxMs: number): Promise<void>;
}

export interface RunPumpOptions {
  readonly redeliveryMs?: number | undefined;
}

/** The queue of runs and what Lambda does with it: each message to the worker's handler, again where that fails. */
export function runPump(options: RunPumpOptions = {}): RunPump {
  const workers = new Set<Promise<void>>();
  let services: Services | undefined;
  const stop = new AbortController();

  const deliver: Deliver = async (message, received) => {
    // What is still in the queue ends with the process: the next one finds it in the table of runs.
    if (services === undefined || stop.signal.aborted) return;
    let failure: unknown;
    const onMessageFailed = (error: unknown) => {
      failure = error;
    };
    const endsAt = performance.now() + workerTimeoutMs;
    const remainingMs = () => endsAt - performance.now();
    useServices({ ...services, onMessageFailed, stop: stop.signal });
    const event = sqsEvent(formatRunMessage(message), received, new Date());
    const { batchItemFailures } = await handler(event, invocation(remainingMs));
    if (batchItemFailures.length > 0) throw failure;
  };

  const pull = () => {
    if (services === undefined) return;
    const free = Math.min(concurrency - workers.size, queue.waiting);
    for (let started = 0; started < free; started++) {
      const worker = queue.drain(deliver).finally(() => {
        workers.delete(worker);
        // A message may have come while this one was about to end, and was still counted.
        pull();
      });
      workers.add(worker);
    }
  };

  const queue = inMemoryRunQueue({
    redeliveryMs: options.redeliveryMs ?? redeliveryMs,
    onMessage: pull,
    onDeadLetter: announce,
  });

  return {
    queue,
    start(given) {
      services = given;
      pull();
    },
    async close(maxMs) {
      stop.abort();
      const ended = Promise.all(workers);
      let timer: NodeJS.Timeout | undefined;
      const givenUp = new Promise<void>((resolve) => {
        timer = setTimeout(resolve, maxMs);
      });
      await Promise.race([ended, givenUp]);
      clearTimeout(timer);
    },
  };
}

function announce({ message, error }: DeadLetter): void {
  const { agent, runId, shard } = message;
  const reason = messageOf(error).replace(/\s+/g, ' ');
  console.error(
    `dormouse: shard ${shard} of run ${runId} of '${agent}' is given up, a dead letter: ${reason}`,
  );
}
