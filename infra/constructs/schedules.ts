import { Validations } from 'aws-cdk-lib';
import { Grant } from 'aws-cdk-lib/aws-iam';
import type { Queue } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import type { AgentSchedule } from '../agent-schedules.ts';
import { deadLetters } from './dead-letters.ts';
import type { ServiceFunction } from './service-function.ts';
import { tickMaxAge, ticksOf } from './tick.ts';
import { TickRules } from './tick-rules.ts';
import { ZonedTicks } from './zoned-ticks.ts';

/** Everything that makes the agents' schedules come true: whatever way a tick is lost on, it ends in `deadLetters`. */
export class Schedules extends Construct {
  readonly deadLetters: Queue;

  constructor(
    scope: Construct,
    id: string,
    { schedules, dispatcher }: { schedules: readonly AgentSchedule[]; dispatcher: ServiceFunction },
  ) {
    super(scope, id);
    this.deadLetters = deadLetters(scope, 'TickDeadLetters');
    Validations.of(this.deadLetters).acknowledge({
      id: 'AwsSolutions-SQS3',
      reason:
        'It is a dead-letter queue itself: of rules, schedules and a function, which the check does not know',
    });
    setAsideFailures(dispatcher, this.deadLetters);

    const ticks = schedules.flatMap(ticksOf);
    const targets = { dispatcher, deadLetters: this.deadLetters };
    const inUtc = ticks.filter(({ service }) => service === 'rules');
    const zoned = ticks.filter(({ service }) => service === 'scheduler');
    if (inUtc.length > 0) new TickRules(this, 'Rules', inUtc, targets);
    if (zoned.length > 0) new ZonedTicks(this, 'Zoned', zoned, targets);
  }
}

/** A tick that was delivered and cannot be dispatched. Not `SqsDestination`: it grants calls that Lambda does not make. */
function setAsideFailures(dispatcher: ServiceFunction, to: Queue): void {
  dispatcher.configureAsyncInvoke({
    // The most that Lambda does.
    retryAttempts: 2,
    maxEventAge: tickMaxAge,
    onFailure: {
      bind: () => {
        Grant.addToPrincipal({
          grantee: dispatcher,
          actions: ['sqs:SendMessage'],
          resourceArns: [to.queueArn],
        });
        return { destination: to.queueArn };
      },
    },
  });
}
