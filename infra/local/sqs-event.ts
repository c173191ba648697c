import { createHash, randomUUID } from 'node:crypto';
import type { Context, SQSEvent } from 'aws-lambda';

/** The event in which Lambda hands one message of a queue to a function. */
export function sqsEvent(body: string, received: number, now: Date): SQSEvent {
  const sentAt = String(now.getTime());
  return {
    Records: [
      {
        messageId: randomUUID(),
        receiptHandle: randomUUID(),
        body,
        attributes: {
          ApproximateReceiveCount: String(received),
          ApproximateFirstReceiveTimestamp: sentAt,
          SentTimestamp: sentAt,
          SenderId: 'local',
        },
        messageAttributes: {},
        md5OfBody: createHash('md5').update(body).digest('hex'),
        eventSource: 'aws:sqs',
        eventSourceARN: 'arn:aws:sqs:local:000000000000:dormouse-runs',
        awsRegion: 'local',
      },
    ],
  };
}

/** What a function is told of its invocation, as far as ours look at it. */
export function invocation(getRemainingTimeInMillis: () => number): Context {
  const name = 'dormouse-local';
  const context: Partial<Context> = {
    functionName: name,
    functionVersion: '$LATEST',
    invokedFunctionArn: `arn:aws:lambda:local:000000000000:function:${name}`,
    memoryLimitInMB: '1024',
    awsRequestId: randomUUID(),
    logGroupName: name,
    logStreamName: name,
    getRemainingTimeInMillis,
  };
  return context as Context;
}
