import type { AwsCalls } from './aws-calls.ts';
import type { Template } from './template.ts';

type List = (aws: AwsCalls) => Promise<string[]>;

const monitoringVersion = '2010-08-01';

export const alarmNames: List = async (aws) => {
  const parameters = { Action: 'DescribeAlarms', MaxRecords: '100' };
  return elements(await aws.query('monitoring', monitoringVersion, parameters), 'AlarmName');
};

export const dashboardNames: List = async (aws) =>
  elements(await aws.query('monitoring', monitoringVersion, { Action: 'ListDashboards' }), 'DashboardName');

/** Kinds of resources that could outlive a stack and cost money, or go on doing something, and how they are found. */
const lists: ReadonlyMap<string, List> = new Map([
  ['AWS::DynamoDB::GlobalTable', json('dynamodb', 'DynamoDB_20120810.ListTables', 'TableNames')],
  ['AWS::Logs::LogGroup', json('logs', 'Logs_20140328.DescribeLogGroups', 'logGroups', 'logGroupName')],
  ['AWS::Lambda::Function', rest('lambda', '/2015-03-31/functions/', 'Functions', 'FunctionName')],
  [
    'AWS::Lambda::EventSourceMapping',
    rest('lambda', '/2015-03-31/event-source-mappings/', 'EventSourceMappings', 'EventSourceArn'),
  ],
  ['AWS::SQS::Queue', json('sqs', 'AmazonSQS.ListQueues', 'QueueUrls')],
  ['AWS::Events::Rule', json('events', 'AWSEvents.ListRules', 'Rules', 'Name')],
  ['AWS::Scheduler::Schedule', rest('scheduler', '/schedules', 'Schedules', 'Name')],
  ['AWS::Scheduler::ScheduleGroup', rest('scheduler', '/schedule-groups', 'ScheduleGroups', 'Name')],
  ['AWS::CloudWatch::Alarm', alarmNames],
  ['AWS::CloudWatch::Dashboard', dashboardNames],
]);

/** What bears the name of a stack, by type. */
export async function ownedBy(aws: AwsCalls, stackName: string): Promise<Map<string, string[]>> {
  const owned = [...lists].map(async ([type, list]) => {
    const names = await list(aws);
    return [type, names.filter((name) => name.includes(stackName))] as const;
  });
  return new Map(await Promise.all(owned));
}

/** The types of which the template has some, and the list none: then an empty list would prove nothing. */
export function unseenTypes(owned: ReadonlyMap<string, readonly string[]>, template: Template): string[] {
  const types = new Set(Object.values(template.Resources).map(({ Type }) => Type));
  return [...owned].filter(([type, names]) => types.has(type) && names.length === 0).map(([type]) => type);
}

function json(service: string, target: string, field: string, nameField?: string): List {
  return async (aws) => namesIn(await aws.json(service, target, {}), field, nameField);
}

function rest(service: string, path: string, field: string, nameField: string): List {
  return async (aws) => namesIn(JSON.parse(await aws.rest(service, 'GET', path)), field, nameField);
}

/** Of the first page, which is all of an emulator that holds one stack. */
function namesIn(answer: unknown, field: string, nameField?: string): string[] {
  const items = (answer as Record<string, unknown[] | undefined>)[field] ?? [];
  return items.map((item) =>
    String(nameField === undefined ? item : (item as Record<string, unknown>)[nameField]),
  );
}

function elements(xml: string, name: string): string[] {
  return [...xml.matchAll(new RegExp(`<${name}>([^<]*)</${name}>`, 'g'))].map(([, text]) => text ?? '');
}
