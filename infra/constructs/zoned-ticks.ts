import { Stack } from 'aws-cdk-lib';
import { PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { CfnSchedule, CfnScheduleGroup } from 'aws-cdk-lib/aws-scheduler';
import { Construct } from 'constructs';
import { type Tick, type TickTargets, tickDeliveryRetries, tickId, tickInput, tickMaxAge } from './tick.ts';
import { tickName } from './tick-names.ts';

/** A schedule of EventBridge Scheduler for each tick that has a time zone or happens once, in a group of the stack's own. */
export class ZonedTicks extends Construct {
  constructor(scope: Construct, id: string, ticks: readonly Tick[], targets: TickTargets) {
    super(scope, id);
    const group = new CfnScheduleGroup(this, 'Group', {});
    const role = senderRole(this, targets);
    const { dispatcher, deadLetters } = targets;
    for (const tick of ticks) {
      const schedule = new CfnSchedule(this, tickId(tick), {
        name: tickName(Stack.of(this).stackName, tick),
        description: `Dormouse: ${tick.schedule} of ${tick.agent}`,
        groupName: group.ref,
        scheduleExpression: tick.expression,
        scheduleExpressionTimezone: tick.timezone ?? 'UTC',
        flexibleTimeWindow: { mode: 'OFF' },
        state: 'ENABLED',
        target: {
          arn: dispatcher.functionArn,
          roleArn: role.roleArn,
          input: tickInput(tick, '"<aws.scheduler.scheduled-time>"'),
          retryPolicy: {
            maximumRetryAttempts: tickDeliveryRetries,
            maximumEventAgeInSeconds: tickMaxAge.toSeconds(),
          },
          deadLetterConfig: { arn: deadLetters.queueArn },
        },
      });
      // Before its policy is there the role can do nothing: a tick due at that moment would wait for a retry.
      schedule.node.addDependency(role);
    }
  }
}

/** What Scheduler acts as, for schedules of this account: it may hand a tick to the dispatcher, or dead-letter it. */
function senderRole(scope: Construct, { dispatcher, deadLetters }: TickTargets): Role {
  const role = new Role(scope, 'Role', {
    assumedBy: new ServicePrincipal('scheduler.amazonaws.com', {
      conditions: { StringEquals: { 'aws:SourceAccount': Stack.of(scope).account } },
    }),
  });
  const allow = (action: string, resource: string) =>
    role.addToPolicy(new PolicyStatement({ actions: [action], resources: [resource] }));
  allow('lambda:InvokeFunction', dispatcher.functionArn);
  allow('sqs:SendMessage', deadLetters.queueArn);
  return role;
}
