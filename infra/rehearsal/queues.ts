import type { AwsCalls } from './aws-calls.ts';

/** A queue, by its URL. */
export interface QueueCalls {
  send(body: string): Promise<void>;
  /** Takes the messages that are there, up to ten, without deleting them. */
  bodies(): Promise<string[]>;
}

export function queueCalls(aws: AwsCalls, QueueUrl: string): QueueCalls {
  const call = (action: string, input: object) =>
    aws.json('sqs', `AmazonSQS.${action}`, { QueueUrl, ...input });
  return {
    send: async (MessageBody) => {
      await call('SendMessage', { MessageBody });
    },
    bodies: async () => {
      // Seen by whoever looks next, too.
      const input = { MaxNumberOfMessages: 10, VisibilityTimeout: 0 };
      const { Messages = [] } = (await call('ReceiveMessage', input)) as { Messages?: { Body: string }[] };
      return Messages.map(({ Body }) => Body);
    },
  };
}
