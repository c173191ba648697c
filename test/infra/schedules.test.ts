import { Annotations, Match, type Template } from 'aws-cdk-lib/assertions';
import { describe, expect, test } from 'vitest';
import type { AgentSchedule } from '../../infra/agent-schedules.ts';
import { nameOf } from '../../infra/rehearsal/grants.ts';
import { functionNames, serviceFunctions } from '../../infra/service-functions.ts';
import { scheduleDescriptor } from '../../lib/schedules/schedule-descriptor.ts';
import { otherSettings, type Resource, resourcesOf, synthesizedStack } from './synthesized-stack.ts';

const paris = { timezone: 'Europe/Paris' };
const sample: readonly AgentSchedule[] = [
  { agent: 'support', descriptor: scheduleDescriptor('nightly', '0 3 * * *', 'prune-raw-memory') },
  { agent: 'support', descriptor: scheduleDescriptor('payday', '0 9 1,15 * MON', 'pay "<all>"') },
  { agent: 'coach', descriptor: scheduleDescriptor('nightly', 'rate(1 hour)', 'digest') },
  { agent: 'coach', descriptor: scheduleDescriptor('standup', '30 9 * * MON-FRI', 'digest', paris) },
  { agent: 'coach', descriptor: scheduleDescriptor('fair', '0 0 1 * SUN', 'digest', paris) },
  { agent: 'coach', descriptor: scheduleDescriptor('launch', 'at(2030-01-31T09:00:00)', 'digest') },
];

test('a schedule that is over is left out of the stack, which is synthesized, and warns of it by name', () => {
  const past: readonly AgentSchedule[] = [
    { agent: 'support', descriptor: scheduleDescriptor('launch', 'at(2020-01-01T00:00:00)', 'digest') },
    { agent: 'support', descriptor: scheduleDescriptor('year', 'cron(0 9 1 1 ? 2020)', 'digest') },
    { agent: 'support', descriptor: scheduleDescriptor('years', 'cron(0 0 ? * MON 2021-2024)', 'digest') },
    { agent: 'support', descriptor: scheduleDescriptor('paris', 'cron(0 0 ? * MON 2021)', 'digest', paris) },
  ];

  const { template, stack } = synthesizedStack({}, [...past, ...sample]);

  const { template: without } = synthesizedStack({}, sample);
  expect(rulesOf(template).map(shownRule)).toEqual(rulesOf(without).map(shownRule));
  expect(zonedOf(template).map(shownZoned)).toEqual(zonedOf(without).map(shownZoned));
  const warnings = Annotations.fromStack(stack).findWarning('*', Match.stringLikeRegexp('is over'));
  expect(warnings.map(({ entry }) => String(entry.data).slice(0, 60))).toEqual(
    past.map(({ descriptor }) =>
      expect.stringContaining(`the schedule '${descriptor.name}' of agent 'support' is over`),
    ),
  );
});

describe('the schedules of the agents', () => {
  const { template } = synthesizedStack({}, sample);

  test('that recur in UTC are rules: one for each expression, all of a schedule under its name', () => {
    expect(rulesOf(template).map(shownRule)).toEqual([
      ['cron(0 3 * * ? *)', { agent: 'support', action: 'prune-raw-memory', schedule: 'nightly' }],
      ['cron(0 9 1,15 * ? *)', { agent: 'support', action: 'pay "<all>"', schedule: 'payday' }],
      ['cron(0 9 ? * 2 *)', { agent: 'support', action: 'pay "<all>"', schedule: 'payday' }],
      ['rate(1 hour)', { agent: 'coach', action: 'digest', schedule: 'nightly' }],
    ]);
  });

  test('that have a time zone or happen once are for EventBridge Scheduler, at the minute', () => {
    const standup = { agent: 'coach', action: 'digest', schedule: 'standup' };
    expect(zonedOf(template).map(shownZoned)).toEqual([
      ['cron(30 9 ? * 2-6 *)', 'Europe/Paris', standup],
      ['cron(0 0 1 * ? *)', 'Europe/Paris', { ...standup, schedule: 'fair' }],
      ['cron(0 0 ? * 1 *)', 'Europe/Paris', { ...standup, schedule: 'fair' }],
      ['at(2030-01-31T09:00:00)', 'UTC', { ...standup, schedule: 'launch' }],
    ]);
    for (const { Properties } of zonedOf(template))
      expect(Properties.FlexibleTimeWindow).toEqual({ Mode: 'OFF' });
  });

  test('tell the dispatcher when they were due, in the words of either service', () => {
    for (const { Properties } of rulesOf(template)) {
      const { InputPathsMap, InputTemplate } = Properties.Targets[0].InputTransformer;
      expect(InputPathsMap).toEqual({ time: '$.time' });
      expect(placeholdersOf(InputTemplate)).toEqual([',"time":<time>}']);
    }
    for (const { Properties } of zonedOf(template)) {
      expect(placeholdersOf(Properties.Target.Input)).toEqual([',"time":"<aws.scheduler.scheduled-time>"}']);
    }
  });

  test('go to the dispatcher, are tried again for six hours, and are dead-lettered then', () => {
    const targets = [
      ...rulesOf(template).flatMap(({ Properties }) => Properties.Targets),
      ...zonedOf(template).map(({ Properties }) => Properties.Target),
    ];

    expect(targets).toHaveLength(8);
    for (const { Arn, RetryPolicy, DeadLetterConfig } of targets) {
      expect(referred(Arn)).toBe('Dispatch');
      expect(RetryPolicy).toEqual({ MaximumRetryAttempts: 185, MaximumEventAgeInSeconds: 21_600 });
      expect(referred(DeadLetterConfig.Arn)).toBe('TickDeadLetters');
    }
  });

  test('reach the dispatcher by one permission for the rules of this stack', () => {
    const permissions = Object.values(resourcesOf(template, 'AWS::Lambda::Permission')).filter(
      ({ Properties }) => Properties.Principal === 'events.amazonaws.com',
    );

    expect(permissions).toHaveLength(1);
    expect(permissions[0]?.Properties).toMatchObject({ Action: 'lambda:InvokeFunction' });
    expect(referred(permissions[0]?.Properties.FunctionName)).toBe('Dispatch');
    expect(JSON.stringify(permissions[0]?.Properties.SourceArn)).toContain(':rule/dormouse-dev_*');
    for (const { Properties } of rulesOf(template)) expect(Properties.Name).toMatch(/^dormouse-dev_/);
  });

  test('may be dead-lettered by the rules of this stack, which one statement says', () => {
    const policies = Object.values(resourcesOf(template, 'AWS::SQS::QueuePolicy'));
    const statements = policies.flatMap(({ Properties }) => Properties.PolicyDocument.Statement);

    const allowing = statements.filter(({ Effect }) => Effect === 'Allow');
    expect(allowing).toHaveLength(1);
    expect(allowing[0]).toMatchObject({
      Action: 'sqs:SendMessage',
      Principal: { Service: 'events.amazonaws.com' },
    });
    expect(referred(allowing[0].Resource)).toBe('TickDeadLetters');
    expect(JSON.stringify(allowing[0].Condition.ArnLike['aws:SourceArn'])).toContain(':rule/dormouse-dev_*');
  });

  test('in a time zone share a group, and a role that may send a tick on or dead-letter it', () => {
    const roleId = zonedOf(template)[0]?.Properties.Target.RoleArn['Fn::GetAtt'][0];
    const [policy] = Object.values(resourcesOf(template, 'AWS::IAM::Policy')).filter(
      ({ Properties }) => Properties.Roles[0].Ref === roleId,
    );
    const groups = Object.keys(resourcesOf(template, 'AWS::Scheduler::ScheduleGroup'));

    for (const { Properties } of zonedOf(template)) {
      expect(Properties.Target.RoleArn).toEqual({ 'Fn::GetAtt': [roleId, 'Arn'] });
      expect(Properties.GroupName).toEqual({ Ref: groups[0] });
    }
    expect(groups).toHaveLength(1);
    const trust = resourcesOf(template, 'AWS::IAM::Role')[roleId]?.Properties.AssumeRolePolicyDocument;
    expect(trust.Statement).toEqual([
      {
        Effect: 'Allow',
        Action: 'sts:AssumeRole',
        Principal: { Service: 'scheduler.amazonaws.com' },
        Condition: { StringEquals: { 'aws:SourceAccount': { Ref: 'AWS::AccountId' } } },
      },
    ]);
    const allowed = policy?.Properties.PolicyDocument.Statement.map(
      ({ Action, Resource }: { Action: string; Resource: unknown }) => `${Action} ${referred(Resource)}`,
    );
    expect(allowed).toEqual(['lambda:InvokeFunction Dispatch', 'sqs:SendMessage TickDeadLetters']);
  });
});

describe('a change of the schedules', () => {
  const before = identitiesOf(sample);

  test('leaves no rule of a schedule that is gone', () => {
    const [gone, ...rest] = sample;
    const after = identitiesOf(rest);

    const removed = before.filter((identity) => !after.includes(identity));
    expect(removed).toEqual([expect.stringContaining(`support_${gone?.descriptor.name}`)]);
    expect(after.every((identity) => before.includes(identity))).toBe(true);
  });

  test('that renames one removes its rules and makes others', () => {
    const after = identitiesOf(
      sample.map(({ agent, descriptor }) =>
        descriptor.name === 'payday'
          ? { agent, descriptor: { ...descriptor, name: 'pay-day' } }
          : { agent, descriptor },
      ),
    );

    expect(after.filter((identity) => /_payday_/.test(identity))).toEqual([]);
    expect(after.filter((identity) => /_pay-day_/.test(identity))).toHaveLength(2);
    expect(after).toHaveLength(before.length);
  });

  test('that gives one a time zone makes another resource: CloudFormation changes the type of none', () => {
    const [first] = sample;
    if (first === undefined) throw new Error('the sample is empty');
    const zoned = { ...first, descriptor: { ...first.descriptor, ...paris } };

    const [idBefore] = identitiesOf([first]).map((identity) => identity.split(' ')[0]);
    const [idAfter] = identitiesOf([zoned]).map((identity) => identity.split(' ')[0]);
    expect(idAfter).not.toBe(idBefore);
  });
});

describe('without a schedule', () => {
  test('there is no rule, no group and no permission for any', () => {
    const { template } = synthesizedStack();
    const types = Object.values<Resource>(template.toJSON().Resources).map(({ Type }) => Type);
    const principals = Object.values(resourcesOf(template, 'AWS::Lambda::Permission')).map(
      ({ Properties }) => Properties.Principal,
    );

    expect(types.filter((type) => /^AWS::(Events|Scheduler)::/.test(type))).toEqual([]);
    expect(new Set(principals)).toEqual(new Set(['apigateway.amazonaws.com']));
  });
});

describe('a hundred schedules', () => {
  const crons = ['0 3 * * *', '*/5 * * * *', 'rate(2 hours)', '0 9 1,15 * MON', '30 9 * * MON-FRI'];
  const hundred = Array.from({ length: 100 }, (_, index): AgentSchedule => {
    const options = index % 5 === 4 ? paris : {};
    const cron = crons[index % 5] ?? '';
    return {
      agent: `agent-${index % 7}`,
      descriptor: scheduleDescriptor(`schedule-${index}`, cron, 'prune-raw-memory', options),
    };
  });
  const { template } = synthesizedStack(otherSettings, hundred);

  test('fit into a stack, with every setting', () => {
    expect(rulesOf(template)).toHaveLength(100);
    expect(zonedOf(template)).toHaveLength(20);
    expect(Object.keys(template.toJSON().Resources).length).toBeLessThan(500);
  });

  test("leave the dispatcher's policy, which ends at 20,480 bytes, as short as one does", () => {
    const ofDispatcher = Object.values(resourcesOf(template, 'AWS::Lambda::Permission')).filter(
      ({ Properties }) => referred(Properties.FunctionName) === 'Dispatch',
    );

    expect(ofDispatcher).toHaveLength(1);
    expect(JSON.stringify(ofDispatcher).length).toBeLessThan(2_000);
  });

  test('have one target each, of the five that a rule takes', () => {
    for (const { Properties } of rulesOf(template)) expect(Properties.Targets).toHaveLength(1);
  });
});

describe('what is invoked asynchronously', () => {
  const { template } = synthesizedStack();
  const configs = Object.values(resourcesOf(template, 'AWS::Lambda::EventInvokeConfig'));

  test.each(functionNames)('is repeated as often as it is said for %s', (name) => {
    const own = configs.filter(
      ({ Properties }) => referred(Properties.FunctionName) === serviceFunctions[name].id,
    );

    expect(own).toHaveLength(1);
    expect(own[0]?.Properties).toMatchObject(
      name === 'dispatch'
        ? { MaximumRetryAttempts: 2, MaximumEventAgeInSeconds: 21_600 }
        : { MaximumRetryAttempts: 0, MaximumEventAgeInSeconds: 60 },
    );
  });

  test('is dead-lettered when the dispatcher fails on it', () => {
    const failing = configs.filter(({ Properties }) => Properties.DestinationConfig !== undefined);

    expect(failing.map(({ Properties }) => referred(Properties.FunctionName))).toEqual(['Dispatch']);
    expect(referred(failing[0]?.Properties.DestinationConfig.OnFailure.Destination)).toBe('TickDeadLetters');
  });
});

function rulesOf(from: Template): Resource[] {
  return Object.values(resourcesOf(from, 'AWS::Events::Rule'));
}

function zonedOf(from: Template): Resource[] {
  return Object.values(resourcesOf(from, 'AWS::Scheduler::Schedule'));
}

function shownRule({ Properties }: Resource) {
  return [Properties.ScheduleExpression, namedIn(Properties.Targets[0].InputTransformer.InputTemplate)];
}

function shownZoned({ Properties }: Resource) {
  const { ScheduleExpression, ScheduleExpressionTimezone, Target } = Properties;
  return [ScheduleExpression, ScheduleExpressionTimezone, namedIn(Target.Input)];
}

/** What a template names, besides the time that EventBridge puts in. */
function namedIn(template: string): unknown {
  const { time, ...named } = JSON.parse(template.replace('<time>', '"<time>"'));
  expect(time).toMatch(/^<.+>$/);
  return named;
}

/** Everything in a template that EventBridge would take for a placeholder, with what is around it. */
function placeholdersOf(template: string): string[] {
  return [...template.matchAll(/(?:,"time":)?"?<[^>]*>"?\}?/g)].map(([text]) => text);
}

/** The name of the construct that an expression refers to. */
function referred(expression: { Ref?: string; 'Fn::GetAtt'?: string[] } | unknown): string {
  const { Ref, 'Fn::GetAtt': attribute } = expression as { Ref?: string; 'Fn::GetAtt'?: string[] };
  return nameOf(Ref ?? attribute?.[0] ?? '');
}

/** Logical id and name of each rule and schedule. */
function identitiesOf(schedules: readonly AgentSchedule[]): string[] {
  const { template } = synthesizedStack({}, schedules);
  const all = ['AWS::Events::Rule', 'AWS::Scheduler::Schedule'].flatMap((type) =>
    Object.entries(resourcesOf(template, type)),
  );
  return all.map(([id, { Properties }]) => `${id} ${Properties.Name}`);
}
