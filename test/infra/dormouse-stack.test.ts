import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Token } from 'aws-cdk-lib';
import { Annotations, Match } from 'aws-cdk-lib/assertions';
import { AwsSolutionsChecks } from 'cdk-nag';
import { describe, expect, test } from 'vitest';
import { serviceFunctions } from '../../infra/service-functions.ts';
import { tables } from '../../lib/dynamodb/tables.ts';
import { scheduleDescriptor } from '../../lib/schedules/schedule-descriptor.ts';
import { otherSettings, resourcesOf, synthesizedStack, validatedStack } from './synthesized-stack.ts';

/** One of each kind: a rule, and a schedule of EventBridge Scheduler. */
const schedules = [undefined, 'Europe/Paris'].map((timezone, index) => ({
  agent: 'support',
  descriptor: scheduleDescriptor(`schedule-${index}`, '0 9 * * *', 'prune-raw-memory', { timezone }),
}));

describe.each([
  ['as it is by default', {}, []],
  ['with schedules and every setting the other way', otherSettings, schedules],
])('the stack, %s,', (_how, settings, ofAgents) => {
  const { app, stack, template } = validatedStack(settings, ofAgents);

  test('passes the AwsSolutions rules; what it acknowledges says why', () => {
    expect(new AwsSolutionsChecks(app).validateScope(stack).violations).toEqual([]);
  });

  test("passes the CDK's own validation", () => {
    const report = JSON.parse(readFileSync(join(app.synth().directory, 'validation-report.json'), 'utf8'));

    expect(report.pluginReports).toEqual([]);
  });

  test('is synthesized without a warning or a deprecation', () => {
    const annotations = Annotations.fromStack(stack);

    expect(annotations.findWarning('*', Match.anyValue())).toEqual([]);
    expect(annotations.findError('*', Match.anyValue())).toEqual([]);
  });

  test('is bound to no account and no region', () => {
    expect(Token.isUnresolved(stack.account)).toBe(true);
    expect(Token.isUnresolved(stack.region)).toBe(true);
  });

  // CloudFormation takes 500 in a stack. A function costs ten of them, and nearly every operation has one of its own, which is what
  // keeps each role down to the calls that are made; 170 are left for schedules, of which schedules.test.ts deploys a hundred.
  test('has no custom resource, and room below the limit of 500 resources', () => {
    const types = Object.values(template.toJSON().Resources).map(
      (resource) => (resource as { Type: string }).Type,
    );

    expect(types.filter((type) => /^Custom::|CustomResource/.test(type))).toEqual([]);
    expect(types.length).toBeLessThan(330);
  });

  // What is retained under a fixed name stands in the way of the next deployment.
  test.each([
    ['AWS::DynamoDB::GlobalTable', 'TableName'],
    ['AWS::Lambda::Function', 'FunctionName'],
    ['AWS::Logs::LogGroup', 'LogGroupName'],
    ['AWS::IAM::Role', 'RoleName'],
    ['AWS::CloudWatch::Alarm', 'AlarmName'],
    ['AWS::CloudWatch::Dashboard', 'DashboardName'],
    ['AWS::SNS::Topic', 'TopicName'],
    ['AWS::SQS::Queue', 'QueueName'],
    ['AWS::Scheduler::ScheduleGroup', 'Name'],
  ])('leaves the name of every %s to CloudFormation', (type, property) => {
    for (const { Properties } of Object.values(resourcesOf(template, type))) {
      expect(Properties).not.toHaveProperty(property);
    }
  });

  test('says where the API, its tables, its queues and its logs are', () => {
    const names = [
      'ApiUrl',
      'AccessLogGroup',
      'RunQueueUrl',
      'RunDeadLettersUrl',
      'TickDeadLettersUrl',
      'DispatchFunctionName',
      'DashboardName',
      ...tables.map(({ id }) => `${id}TableName`),
      ...Object.values(serviceFunctions).map(({ id }) => `${id}LogGroup`),
    ];

    expect(Object.keys(template.toJSON().Outputs)).toEqual(expect.arrayContaining(names));
  });
});

describe('the stack', () => {
  test('says what IAM policies of callers have to name, where callers have any', () => {
    const jwt = { auth: 'jwt', jwtIssuer: 'https://issuer.example.com/', jwtAudience: 'dormouse' };

    expect(synthesizedStack().template.toJSON().Outputs).toHaveProperty('ApiArn');
    expect(synthesizedStack(jwt).template.toJSON().Outputs).not.toHaveProperty('ApiArn');
  });

  test('is named after its stage, so that several fit into one account', () => {
    expect(synthesizedStack({ stage: 'prod' }).stack.stackName).toBe('dormouse-prod');
  });

  test('keeps its logs when it goes, unless retain is off', () => {
    const kept = Object.values(resourcesOf(synthesizedStack().template, 'AWS::Logs::LogGroup'));
    const gone = Object.values(
      resourcesOf(synthesizedStack({ retain: false }).template, 'AWS::Logs::LogGroup'),
    );

    expect(new Set(kept.map((group) => group.DeletionPolicy))).toEqual(new Set(['Retain']));
    expect(new Set(gone.map((group) => group.DeletionPolicy))).toEqual(new Set(['Delete']));
  });
});
