import {
  type BatchResultErrorEntry,
  ChangeMessageVisibilityCommand,
  SendMessageBatchCommand,
  SQSClient,
} from '@aws-sdk/client-sqs';
import { awsError, awsFailure } from '../aws-error.ts';
import { UnavailableError } from '../persistence/persistence-error.ts';
import type { RunMessage } from '../runs/run-message.ts';
import type { RunQueue } from '../runs/run-queue.ts';

export interface SqsRunQueueOptions {
  /** A standard queue: the engine needs no order, and takes a message that comes twice for one. */
  readonly queueUrl: string;
  /** Without it, one is made from the environment. */
  readonly client?: SQSClient | undefined;
}

/** What SQS takes in one request. */
const batchMax = 10;

/** A message that SQS did not take, though it took the request. */
interface Refusal {
  readonly body: string | undefined;
  readonly error: UnavailableError;
}

/**
 * Brings messages to workers through an SQS queue: ten in a request. What SQS refuses of them is sent once more by
 * itself; what it then refuses, and a request that fails, rejects, and the engine sends all of it again.
 *
 * @example
 * const engine = runEngine({ agents, stores, ...runs, queue: sqsRunQueue({ queueUrl }) });
 */
export function sqsRunQueue(options: SqsRunQueueOptions): Required<RunQueue> {
  const { queueUrl, client = new SQSClient({}) } = options;
  const sendBatch = async (bodies: readonly string[]): Promise<Refusal[]> => {
    const Entries = bodies.map((MessageBody, index) => ({ Id: String(index), MessageBody }));
    const { Failed = [] } = await client.send(new SendMessageBatchCommand({ QueueUrl: queueUrl, Entries }));
    return Failed.map((entry) => ({ body: bodies[Number(entry.Id)], error: refusalError(entry) }));
  };
  const sendAll = async (bodies: readonly string[]): Promise<Refusal[]> => {
    const refused: Refusal[] = [];
    for (let start = 0; start < bodies.length; start += batchMax)
      refused.push(...(await sendBatch(bodies.slice(start, start + batchMax))));
    return refused;
  };

  return {
    async send(messages) {
      try {
        const refused = await sendAll(messages.map(bodyOf));
        const again = refused.flatMap(({ body, error }) => (error.retryable && body ? [body] : []));
        const given = refused.filter(({ body, error }) => !(error.retryable && body));
        const left = [...given, ...(await sendAll(again))];
        if (left[0] !== undefined) throw left[0].error;
      } catch (error) {
        throw error instanceof UnavailableError ? error : awsError('SQS', error);
      }
    },
    async redeliver(receipt, secs) {
      const input = { QueueUrl: queueUrl, ReceiptHandle: receipt, VisibilityTimeout: secs };
      try {
        await client.send(new ChangeMessageVisibilityCommand(input));
      } catch (error) {
        throw awsError('SQS', error);
      }
    },
  };
}

/** SQS takes the characters of XML. These two are the only ones outside of them that JSON leaves as they are. */
function bodyOf(message: RunMessage): string {
  return JSON.stringify(message).replace(
    /[\uFFFE\uFFFF]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16)}`,
  );
}

/** Of what is the sender's fault, only having sent too much is mended by sending it again. */
function refusalError({
  Code = 'a message was refused',
  SenderFault,
}: BatchResultErrorEntry): UnavailableError {
  const { message, throttled, retryable } = awsFailure('SQS', Code);
  return new UnavailableError(message, { throttled, retryable: retryable && (throttled || !SenderFault) });
}
