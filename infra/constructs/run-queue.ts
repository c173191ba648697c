import { Duration } from 'aws-cdk-lib';
import { Grant } from 'aws-cdk-lib/aws-iam';
import { EventSourceMapping } from 'aws-cdk-lib/aws-lambda';
import { Queue, QueueEncryption } from 'aws-cdk-lib/aws-sqs';
import type { Construct } from 'constructs';
import { runReceiveLimit, sessionShards } from '../../lib/defaults.ts';
import { environment } from '../../lib/environment.ts';
import { deadLetters } from './dead-letters.ts';
import type { ServiceFunction } from './service-function.ts';

/** Between whoever starts runs and the worker: one message for each shard of a run, and where those go that fail for good. */
export class RunQueue extends Queue {
  readonly deadLetters: Queue;

  constructor(scope: Construct, id: string, { worker }: { readonly worker: ServiceFunction }) {
    const failed = deadLetters(scope, 'RunDeadLetters');
    super(scope, id, {
      // What AWS advises: room for Lambda to try again by itself before the message comes to another worker.
      visibilityTimeout: Duration.seconds(6 * worker.timeoutSecs),
      encryption: QueueEncryption.SQS_MANAGED,
      enforceSSL: true,
      deadLetterQueue: { queue: failed, maxReceiveCount: runReceiveLimit },
    });
    this.deadLetters = failed;
    this.#deliverTo(worker);
  }

  /** Lets the function send, and tells it where. Not `grantSendMessages`: that one allows calls that nobody makes. */
  grantSend(fn: ServiceFunction): void {
    Grant.addToPrincipal({ grantee: fn, actions: ['sqs:SendMessage'], resourceArns: [this.queueArn] });
    fn.addEnvironment(environment.runQueueUrl, this.queueUrl);
  }

  /** One message at a time: each has the worker's whole time. Not `SqsEventSource`: it grants more than Lambda needs. */
  #deliverTo(worker: ServiceFunction): void {
    Grant.addToPrincipal({
      grantee: worker,
      // The last is the worker's own: it has a message that failed come again sooner.
      actions: [
        ...['sqs:ReceiveMessage', 'sqs:DeleteMessage', 'sqs:GetQueueAttributes'],
        'sqs:ChangeMessageVisibility',
      ],
      resourceArns: [this.queueArn],
    });
    new EventSourceMapping(this, 'Delivery', {
      target: worker,
      eventSourceArn: this.queueArn,
      batchSize: 1,
      reportBatchItemFailures: true,
      // A run at its full width; the rest of the account's concurrency is for the API.
      maxConcurrency: sessionShards,
    });
  }
}
