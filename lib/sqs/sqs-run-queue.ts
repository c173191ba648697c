import { randomUUID } from 'node:crypto';
import { SendMessageBatchCommand, type SendMessageBatchRequestEntry, SQSClient } from '@aws-sdk/client-sqs';
import { messageOf } from '../errors.ts';
import { UnavailableError } from '../persistence/persistence-error.ts';
import type { RunQueue } from '../runs/run-queue.ts';

export interface SqsRunQueueOptions {
  /** A standard queue: the engine needs no order, and takes a message that comes twice for one. */
  readonly queueUrl: string;
  /** Without it, one is made from the environment. */
  readonly client?: SQSClient | undefined;
}

/** What SQS takes in one request. */
const batchMax = 10;

/**
 * Brings messages to workers through an SQS queue.
 *
 * @example
 * const engine = runEngine({ agents, stores, ...runs, queue: sqsRunQueue({ queueUrl }) });
 */
export function sqsRunQueue({ queueUrl, client = new SQSClient({}) }: SqsRunQueueOptions): RunQueue {
  /** Resolves the codes of those that SQS did not take. */
  const sendBatch = async (entries: readonly SendMessageBatchRequestEntry[]): Promise<string[]> => {
    const { Failed = [] } = await client.send(
      new SendMessageBatchCommand({ QueueUrl: queueUrl, Entries: [...entries] }),
    );
    return Failed.map(({ Code }) => Code ?? 'unknown');
  };

  return {
    async send(messages) {
      const entries = messages.map((message) => ({ Id: randomUUID(), MessageBody: JSON.stringify(message) }));
      const refused: string[] = [];
      try {
        for (let start = 0; start < entries.length; start += batchMax)
          refused.push(...(await sendBatch(entries.slice(start, start + batchMax))));
      } catch (error) {
        throw unavailable(`SQS failed (${error instanceof Error ? error.name : messageOf(error)})`, error);
      }
      if (refused.length > 0) throw unavailable(`SQS refused ${refused.length} messages: ${refused[0]}`);
    },
  };
}

/** What cannot succeed is repeated too: how often is the caller's to bound, and nothing is lost by it. */
function unavailable(message: string, cause?: unknown): UnavailableError {
  return new UnavailableError(message, { cause, throttled: false, retryable: true });
}
