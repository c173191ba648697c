import { Stack } from 'aws-cdk-lib';
import { CfnRule } from 'aws-cdk-lib/aws-events';
import { PolicyStatement, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { Construct } from 'constructs';
import { type Tick, type TickTargets, tickDeliveryRetries, tickId, tickInput, tickMaxAge } from './tick.ts';
import { tickName, tickNamePrefix } from './tick-names.ts';

/**
 * An EventBridge rule for each tick in UTC that recurs. Not `Rule` and its targets: these give the dispatcher one
 * permission for each rule, and its policy ends at 20,480 bytes. One permission covers all rules of the stack here.
 */
export class TickRules extends Construct {
  constructor(
    scope: Construct,
    id: string,
    ticks: readonly Tick[],
    { dispatcher, deadLetters }: TickTargets,
  ) {
    super(scope, id);
    const { stackName } = Stack.of(this);
    for (const tick of ticks) {
      new CfnRule(this, tickId(tick), {
        name: tickName(stackName, tick),
        description: `Dormouse: ${tick.schedule} of ${tick.agent}`,
        scheduleExpression: tick.expression,
        state: 'ENABLED',
        targets: [
          {
            id: 'Dispatch',
            arn: dispatcher.functionArn,
            inputTransformer: { inputPathsMap: { time: '$.time' }, inputTemplate: tickInput(tick, '<time>') },
            retryPolicy: {
              maximumRetryAttempts: tickDeliveryRetries,
              maximumEventAgeInSeconds: tickMaxAge.toSeconds(),
            },
            deadLetterConfig: { arn: deadLetters.queueArn },
          },
        ],
      });
    }

    const ruleArns = Stack.of(this).formatArn({
      service: 'events',
      resource: 'rule',
      resourceName: `${tickNamePrefix(stackName)}*`,
    });
    const principal = new ServicePrincipal('events.amazonaws.com');
    dispatcher.addPermission('Rules', { principal, sourceArn: ruleArns });
    deadLetters.addToResourcePolicy(
      new PolicyStatement({
        sid: 'RulesOfThisStack',
        principals: [principal],
        actions: ['sqs:SendMessage'],
        resources: [deadLetters.queueArn],
        conditions: { ArnLike: { 'aws:SourceArn': ruleArns } },
      }),
    );
  }
}
