import { Stack } from 'aws-cdk-lib';
import { PolicyStatement, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { Topic } from 'aws-cdk-lib/aws-sns';
import { EmailSubscription } from 'aws-cdk-lib/aws-sns-subscriptions';
import type { Construct } from 'constructs';

/** The topic that sends alarms to an address; its owner is asked by mail to confirm first. */
export function alarmTopic(scope: Construct, email: string): Topic {
  const topic = new Topic(scope, 'Topic', { enforceSSL: true });
  // A policy of its own replaces the one that lets CloudWatch publish.
  topic.addToResourcePolicy(
    new PolicyStatement({
      sid: 'AllowAlarmsOfThisAccount',
      principals: [new ServicePrincipal('cloudwatch.amazonaws.com')],
      actions: ['sns:Publish'],
      resources: [topic.topicArn],
      conditions: { StringEquals: { 'aws:SourceAccount': Stack.of(scope).account } },
    }),
  );
  topic.addSubscription(new EmailSubscription(email));
  return topic;
}
