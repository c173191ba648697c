import { createHash } from 'node:crypto';
import {
  type BatchResultErrorEntry,
  ChangeMessageVisibilityCommand,
  SendMessageBatchCommand,
  type SendMessageBatchRequestEntry,
  SQSClient,
} from '@aws-sdk/client-sqs';
import { awsError, awsFailure } from '../aws-error.ts';
import { UnavailableError } from '../errors.ts';
import { formatRunMessage, type RunMessage } from '../runs/run-message.ts';
import type { RunQueue } from '../runs/run-queue.ts';

export interface SqsRunQueueOptions {
  /** A standard queue: the engine needs no order, and takes a message that comes twice for one. */
  readonly queueUrl: string;
  /** Without it, one is made from the environment. */
  readonly client?: SQSClient | undefined;
}

/** What SQS takes in one request. */
const batchMax = 10;

type Entry = Omit<SendMessageBatchRequestEntry, 'Id'>;

/** A message that SQS did not take, though it took the request. */
interface Refusal {
  readonly entry: Entry | undefined;
  readonly error: UnavailableError;
}

/**
 * Brings messages to workers through an SQS queue: ten in a request. What SQS refuses of them is sent once more by
 * itself; what it then refuses, and a request that fails, rejects, and the engine sends all of it again. The messages of
 * an agent, and of a tenant's, are a group of their own: SQS sees to it that one which sends very many does not keep the
 * others waiting (fair queues).
 *
 * @example
 * const engine = runEngine({ agents, stores, ...runs, queue: sqsRunQueue({ queueUrl }) });
 */
export function sqsRunQueue(options: SqsRunQueueOptions): Required<RunQueue> {
  const { queueUrl, client = new SQSClient({}) } = options;
  const sendBatch = async (entries: readonly Entry[]): Promise<Refusal[]> => {
    const Entries = entries.map((entry, index) => ({ Id: String(index), ...entry }));
    const { Failed = [] } = await client.send(new SendMessageBatchCommand({ QueueUrl: queueUrl, Entries }));
    return Failed.map((failed) => ({ entry: entries[Number(failed.Id)], error: refusalError(failed) }));
  };
  const sendEach = async (entries: readonly Entry[]): Promise<Refusal[]> => {
    const refused: Refusal[] = [];
    for (let start = 0; start < entries.length; start += batchMax)
      refused.push(...(await sendBatch(entries.slice(start, start + batchMax))));
    return refused;
  };
  const sendAll = async (entries: readonly Entry[]): Promise<void> => {
    try {
      const refused = await sendEach(entries);
      const again = refused.flatMap(({ entry, error }) => (error.retryable && entry ? [entry] : []));
      const given = refused.filter(({ entry, error }) => !(error.retryable && entry));
      const left = [...given, ...(await sendEach(again))];
      if (left[0] !== undefined) throw left[0].error;
    } catch (error) {
      throw error instanceof UnavailableError ? error : awsError('SQS', error);
    }
  };

  return {
    send: (messages) => sendAll(messages.map(entryOf)),
    sendLater: (messages, secs) =>
      sendAll(messages.map((message) => ({ ...entryOf(message), DelaySeconds: secs }))),
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

function entryOf(message: RunMessage): Entry {
  // A name may have characters, and a length, that no group's has.
  const group = createHash('sha256').update(message.agent).digest('hex').slice(0, 32);
  return { MessageBody: bodyOf(message), MessageGroupId: group };
}

/** SQS takes the characters of XML. These two are the only ones outside of them that JSON leaves as they are. */
function bodyOf(message: RunMessage): string {
  return formatRunMessage(message).replace(
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
