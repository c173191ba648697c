import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { projectRoot } from '../../infra/project.ts';
import { nameOf } from '../../infra/rehearsal/grants.ts';
import { serviceFunctions, tableOperations } from '../../infra/service-functions.ts';
import { runLeaseSecs } from '../../lib/defaults.ts';
import { tables } from '../../lib/dynamodb/tables.ts';
import { type Resource, resourcesOf, synthesizedStack } from './synthesized-stack.ts';

const { stack, template } = synthesizedStack();
const alarms = Object.values(resourcesOf(template, 'AWS::CloudWatch::Alarm'));

describe('the alarms', () => {
  test('each name a section that the runbook has', () => {
    const sections = headings(readFileSync(join(projectRoot, 'docs/runbook.md'), 'utf8'));

    for (const { Properties } of alarms) {
      const [, section] = /docs\/runbook\.md#([a-z0-9-]+)$/.exec(Properties.AlarmDescription) ?? [];
      expect(sections, Properties.AlarmDescription).toContain(section);
    }
  });

  test('are few: each costs by the month for each metric it watches', () => {
    expect(alarms.length).toBeLessThanOrEqual(20);
    expect(alarms.flatMap(({ Properties }) => watched(Properties)).length).toBeLessThanOrEqual(50);
  });

  test('watch every function for errors and throttles, and those that nobody waits for by themselves', () => {
    const functionsOf = (metric: string) =>
      alarms
        .map(({ Properties }) => watched(Properties))
        .map((metrics) => metrics.filter(({ name }) => name === `AWS/Lambda ${metric}`).map(({ of }) => of))
        .filter((functions) => functions.length > 0);

    const { dispatch, work, ...ofApi } = serviceFunctions;
    const ids = Object.values(ofApi).map(({ id }) => id);
    expect(functionsOf('Errors')).toEqual([ids, [dispatch.id], [work.id]]);
    expect(functionsOf('Throttles')).toEqual([[...ids, dispatch.id, work.id]]);
  });

  test.each(tables.map((table) => table.id))('watch the table %s for throttles and system errors', (id) => {
    const own = alarms
      .map(({ Properties }) => watched(Properties).filter(({ of }) => of === `${id}Table`))
      .filter((metrics) => metrics.length > 0)
      .map((metrics) => metrics.map(({ name }) => name));

    expect(own).toEqual([
      ['AWS/DynamoDB ReadThrottleEvents', 'AWS/DynamoDB WriteThrottleEvents'],
      tableOperations.map(() => 'AWS/DynamoDB SystemErrors'),
    ]);
  });

  test('count what did not happen as none, which would otherwise hide the others', () => {
    const summing = alarms.filter(({ Properties }) => Properties.Metrics !== undefined);

    expect(summing.length).toBeGreaterThan(tables.length);
    for (const { Properties } of summing) {
      const metrics: Record<string, string>[] = Properties.Metrics;
      const sums = metrics.filter((metric) => metric.Expression !== undefined);
      const terms = metrics.filter((metric) => metric.MetricStat !== undefined);

      expect(sums.map(({ Expression }) => Expression)).toEqual([
        terms.map(({ Id }) => `FILL(${Id}, 0)`).join(' + '),
      ]);
    }
  });

  test('watch the API for 5xx', () => {
    const metrics = alarms.map(({ Properties }) => `${Properties.Namespace} ${Properties.MetricName}`);

    expect(metrics).toContain('AWS/ApiGateway 5xx');
  });

  test('watch for runs that failed, as the functions count them', () => {
    const failed = alarms.filter(({ Properties }) => Properties.MetricName === 'RunsFailed');

    expect(failed.map(({ Properties }) => Properties)).toMatchObject([
      {
        Namespace: stack.stackName,
        Dimensions: [{ Name: 'service', Value: 'dormouse' }],
        Statistic: 'Sum',
        Threshold: 1,
      },
    ]);
  });

  test.each(['RunDeadLetters', 'TickDeadLetters'])('ring as long as anything lies in %s', (name) => {
    const own = alarms.filter(({ Properties }) => queueOf(Properties) === name);

    expect(own.map(({ Properties }) => Properties)).toMatchObject([
      { MetricName: 'ApproximateNumberOfMessagesVisible', Statistic: 'Maximum', Threshold: 1 },
    ]);
  });

  test('ring for a shard that waits, before its run is taken for dead but not for one failure', () => {
    const own = alarms.filter(({ Properties }) => queueOf(Properties) === 'RunQueue');
    const [{ Properties: queue } = { Properties: {} as Resource['Properties'] }] = Object.entries(
      resourcesOf(template, 'AWS::SQS::Queue'),
    ).flatMap(([id, resource]) => (nameOf(id) === 'RunQueue' ? [resource] : []));

    expect(own.map(({ Properties }) => Properties.MetricName)).toEqual(['ApproximateAgeOfOldestMessage']);
    expect(own[0]?.Properties.Threshold).toBeGreaterThan(queue.VisibilityTimeout);
    expect(own[0]?.Properties.Threshold).toBeLessThan(runLeaseSecs);
  });

  test('count damaged snapshots by the code that functions log', () => {
    const filters = Object.values(resourcesOf(template, 'AWS::Logs::MetricFilter'));
    const damage = alarms.filter(({ Properties }) => Properties.MetricName === 'DamagedSnapshots');

    expect(damage.map(({ Properties }) => Properties.Threshold)).toEqual([1]);
    expect(filters).toHaveLength(Object.keys(serviceFunctions).length);
    for (const { Properties } of filters) {
      expect(Properties.FilterPattern).toBe('{ $.code = "corrupt" }');
      expect(Properties.MetricTransformations).toMatchObject([
        { MetricName: 'DamagedSnapshots', MetricNamespace: damage[0]?.Properties.Namespace },
      ]);
    }
  });

  test('are quiet while nothing happens', () => {
    for (const { Properties } of alarms) expect(Properties.TreatMissingData).toBe('notBreaching');
  });

  test('tell nobody unless an address is set', () => {
    expect(resourcesOf(template, 'AWS::SNS::Topic')).toEqual({});
    for (const { Properties } of alarms) expect(Properties).not.toHaveProperty('AlarmActions');
  });
});

describe('the alarms with an address', () => {
  const other = synthesizedStack({ alarmEmail: 'ops@example.com' }).template;
  const [topicId] = Object.keys(resourcesOf(other, 'AWS::SNS::Topic'));

  test('all go there', () => {
    const subscriptions = Object.values(resourcesOf(other, 'AWS::SNS::Subscription'));

    expect(subscriptions.map(({ Properties }) => Properties)).toEqual([
      { Protocol: 'email', Endpoint: 'ops@example.com', TopicArn: { Ref: topicId } },
    ]);
    for (const { Properties } of Object.values(resourcesOf(other, 'AWS::CloudWatch::Alarm'))) {
      expect(Properties.AlarmActions).toEqual([{ Ref: topicId }]);
    }
  });

  test('may publish: a topic with a policy of its own lets CloudWatch in only where it says so', () => {
    const [policy] = Object.values(resourcesOf(other, 'AWS::SNS::TopicPolicy'));

    expect(policy?.Properties.PolicyDocument.Statement).toContainEqual({
      Sid: 'AllowAlarmsOfThisAccount',
      Effect: 'Allow',
      Principal: { Service: 'cloudwatch.amazonaws.com' },
      Action: 'sns:Publish',
      Resource: { Ref: topicId },
      Condition: { StringEquals: { 'aws:SourceAccount': { Ref: 'AWS::AccountId' } } },
    });
  });
});

/** The anchors of a page's headings, as GitHub makes them. */
function headings(markdown: string): string[] {
  return [...markdown.matchAll(/^#+ (.+)$/gm)].map(([, title = '']) =>
    title
      .toLowerCase()
      .replace(/[^a-z0-9 -]/g, '')
      .replaceAll(' ', '-'),
  );
}

interface WatchedMetric {
  readonly Namespace: string;
  readonly MetricName: string;
  readonly Dimensions?: readonly { readonly Value: { readonly Ref?: string } }[];
}

/** The metrics of an alarm, one or summed, with the construct that each is of. */
function watched(properties: Resource['Properties']): { name: string; of: string }[] {
  const stats: { MetricStat?: { Metric: WatchedMetric } }[] = properties.Metrics ?? [
    { MetricStat: { Metric: properties } },
  ];
  return stats.flatMap(({ MetricStat }) => {
    if (MetricStat === undefined) return [];
    const { Namespace, MetricName, Dimensions = [] } = MetricStat.Metric;
    return [
      {
        name: `${Namespace} ${MetricName}`,
        of: nameOf(Dimensions.find(({ Value }) => Value.Ref !== undefined)?.Value.Ref ?? ''),
      },
    ];
  });
}

/** The construct of the queue that an alarm watches. */
function queueOf(properties: Resource['Properties']): string | undefined {
  const dimensions: { Name: string; Value: { 'Fn::GetAtt': string[] } }[] = properties.Dimensions ?? [];
  const queue = dimensions.find(({ Name }) => Name === 'QueueName');
  return queue && nameOf(queue.Value['Fn::GetAtt'][0] ?? '');
}
