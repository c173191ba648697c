import { Annotations, Validations } from 'aws-cdk-lib';
import { Grant } from 'aws-cdk-lib/aws-iam';
import type { Queue } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import { isOver } from '../../lib/schedules/next-fire-times.ts';
import type { AgentSchedule } from '../agent-schedules.ts';
import { deadLetters } from './dead-letters.ts';
import type { ServiceFunction } from './service-function.ts';
import { tickMaxAge, ticksOf } from './tick.ts';
import { TickRules } from './tick-rules.ts';
import { ZonedTicks } from './zoned-ticks.ts';

export interface SchedulesProps {
  readonly schedules: readonly AgentSchedule[];
  readonly dispatcher: ServiceFunction;
  /** When the stack is synthesized: what is over by then is left out, since AWS need not take it, with a warning. */
  readonly now: Date;
}

/** Everything that makes the agents' schedules come true: whatever way a tick is lost on, it ends in `deadLetters`. */
export class Schedules extends Construct {
  readonly deadLetters: Queue;

  constructor(scope: Construct, id: string, { schedules, dispatcher, now }: SchedulesProps) {
    super(scope, id);
    this.deadLetters = deadLetters(scope, 'TickDeadLetters');
    Validations.of(this.deadLetters).acknowledge({
      id: 'AwsSolutions-SQS3',
      reason:
        'It is a dead-letter queue itself: of rules, schedules and a function, which the check does not know',
    });
    setAsideFailures(dispatcher, this.deadLetters);

    const over = schedules.filter(({ descriptor }) => isOver(descriptor, now));
    for (const { agent, descriptor } of over)
      Annotations.of(this).addWarningV2(
        `dormouse:schedule-over:${agent}:${descriptor.name}`,
        `the schedule '${descriptor.name}' of agent '${agent}' is over: ${descriptor.cron} never comes again. It is left out of the stack; take it out of the definition, or give it a time to come`,
      );
    const ticks = schedules.filter((schedule) => !over.includes(schedule)).flatMap(ticksOf);
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
