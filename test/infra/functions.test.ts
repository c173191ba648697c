import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Template } from 'aws-cdk-lib/assertions';
import { describe, expect, test } from 'vitest';
import { projectRoot } from '../../infra/project.ts';
import { resourceText } from '../../infra/rehearsal/grants.ts';
import { type FunctionName, functionNames, serviceFunctions } from '../../infra/service-functions.ts';
import { sessionsTable, tables } from '../../lib/dynamodb/tables.ts';
import { environment } from '../../lib/environment.ts';
import { otherSettings, type Resource, resourcesOf, synthesizedStack } from './synthesized-stack.ts';

/** What each function may do, besides writing its log. The rehearsal compares this with what it was seen to do. */
const permitted: Record<FunctionName, Readonly<Record<string, readonly string[]>>> = {
  hibernate: { '{SnapshotsTable}': ['DeleteItem', 'GetItem', 'PutItem', 'UpdateItem'] },
  thaw: { '{SnapshotsTable}': ['GetItem'] },
  instances: { '{SnapshotsTable}': ['DeleteItem', 'GetItem', 'Query', 'UpdateItem'] },
  conversations: {
    '{SessionsTable}': ['DeleteItem', 'GetItem', 'PutItem', 'Query', 'UpdateItem'],
    '{SessionsTable}/index/byPlace': ['Query'],
  },
  runs: {
    '{RunsTable}': ['DeleteItem', 'GetItem', 'PutItem', 'Query', 'UpdateItem'],
    '{RunsTable}/index/byAction': ['Query'],
    '{ErrorsTable}': ['Query'],
  },
  api: {},
  dispatch: { '{RunsTable}': ['DeleteItem', 'GetItem', 'PutItem', 'UpdateItem'] },
  work: {
    '{RunsTable}': ['DeleteItem', 'GetItem', 'PutItem', 'Query', 'UpdateItem'],
    '{SessionsTable}': ['DeleteItem', 'GetItem', 'PutItem', 'Query', 'UpdateItem'],
    '{SessionsTable}/index/byPlace': ['Query'],
    '{ErrorsTable}': ['DeleteItem', 'PutItem', 'Query'],
    '{SnapshotsTable}': ['DeleteItem', 'GetItem', 'PutItem', 'UpdateItem'],
  },
};

/** Likewise, of queues: who starts runs sends, the worker also hands on; Lambda takes messages in its name. */
const permittedOnQueues: Partial<typeof permitted> = {
  runs: { '{RunQueue}': ['SendMessage'] },
  dispatch: { '{RunQueue}': ['SendMessage'], '{TickDeadLetters}': ['SendMessage'] },
  work: {
    '{RunQueue}': [
      'ChangeMessageVisibility',
      'DeleteMessage',
      'GetQueueAttributes',
      'ReceiveMessage',
      'SendMessage',
    ],
  },
};

/** Seconds; all others run for less time than the 30 that API Gateway waits. */
const timeouts: Partial<Record<FunctionName, number>> = { dispatch: 900, work: 300 };

/** Those that count what they hibernate, and the runs that begin and end. */
const metered: readonly FunctionName[] = ['hibernate', 'runs', 'dispatch', 'work'];

const { stack, template } = synthesizedStack();

describe.each(functionNames)('the function %s', (name) => {
  const fn = functionOf(template, name);

  test('runs on Node.js 24 on arm64, within its time', () => {
    expect(fn.Properties).toMatchObject({
      Runtime: 'nodejs24.x',
      Architectures: ['arm64'],
      MemorySize: 1024,
      Timeout: timeouts[name] ?? 29,
      Handler: 'index.handler',
    });
  });

  test('logs to a group of the stack, for a month, under a name that Lambda does not make', () => {
    const group = resourcesOf(template, 'AWS::Logs::LogGroup')[fn.Properties.LoggingConfig.LogGroup.Ref];

    expect(group?.Properties).toEqual({ RetentionInDays: 30 });
    expect(group).toMatchObject({ DeletionPolicy: 'Retain', UpdateReplacePolicy: 'Retain' });
  });

  test('has a role of its own that only Lambda can assume, without managed policies', () => {
    const roleId = fn.Properties.Role['Fn::GetAtt'][0];
    const users = functionNames.filter(
      (other) => functionOf(template, other).Properties.Role['Fn::GetAtt'][0] === roleId,
    );

    const role = resourcesOf(template, 'AWS::IAM::Role')[roleId];

    expect(users).toEqual([name]);
    expect(Object.keys(role?.Properties ?? {})).toEqual(['AssumeRolePolicyDocument']);
    expect(role?.Properties.AssumeRolePolicyDocument.Statement).toEqual([
      { Action: 'sts:AssumeRole', Effect: 'Allow', Principal: { Service: 'lambda.amazonaws.com' } },
    ]);
  });

  test('may make exactly the calls that it makes, on its own log group, its tables, their index and its queues', () => {
    const expected = [
      ...callsOf('dynamodb', permitted[name]),
      ...callsOf('sqs', permittedOnQueues[name]),
      ...callsOf('logs', { [`{${serviceFunctions[name].id}Logs}`]: ['CreateLogStream', 'PutLogEvents'] }),
    ];

    expect(allowedCalls(template, fn).toSorted()).toEqual(expected.toSorted());
  });

  test('knows the names of exactly the tables that it may use', () => {
    const names = tables.map(({ env }) => env).filter((env) => variables(fn)[env] !== undefined);

    const used = new Set(serviceFunctions[name].access.map(({ table }) => table.env));
    expect(new Set(names)).toEqual(used);
  });

  test('knows the queue of runs exactly if it sends to it', () => {
    const sends = permittedOnQueues[name]?.['{RunQueue}']?.includes('SendMessage') ?? false;

    expect(Object.hasOwn(variables(fn), environment.runQueueUrl)).toBe(sends);
  });

  test('publishes metrics under the name of the stack, if it has any', () => {
    const namespace = metered.includes(name) ? stack.stackName : undefined;
    expect(variables(fn).POWERTOOLS_METRICS_NAMESPACE).toBe(namespace);
  });
});

describe('the functions', () => {
  test('may together make every DynamoDB call that the code makes', () => {
    const folder = join(projectRoot, 'lib/dynamodb');
    const source = readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.ts'))
      .map((file) => readFileSync(join(folder, file), 'utf8'));

    const called = source.flatMap((text) =>
      [...text.matchAll(/\bnew (\w+)Command\(/g)].map(([, call]) => call),
    );

    const granted = Object.values(permitted).flatMap((ofFunction) => Object.values(ofFunction).flat());
    expect(new Set(granted)).toEqual(new Set(called));
  });

  const withTenants = synthesizedStack(otherSettings).template;

  test('carry the settings, and no tenant claim unless one is set', () => {
    for (const name of functionNames) {
      expect(variables(functionOf(template, name))).toMatchObject({
        [environment.strictAgents]: 'false',
        [environment.showStacks]: 'true',
        [environment.overlap]: 'skip',
      });
      expect(variables(functionOf(template, name))).not.toHaveProperty(environment.tenantClaim);
      expect(variables(functionOf(withTenants, name))).toMatchObject({
        [environment.strictAgents]: 'true',
        [environment.overlap]: 'allow',
        [environment.tenantClaim]: 'tenant',
      });
    }
  });

  test('may do no more where there are tenants, but that the dispatcher finds these, and removes empty ones', () => {
    for (const name of functionNames) {
      const added =
        name === 'dispatch'
          ? ['GetItem', 'Query', 'UpdateItem'].map((call) => `dynamodb:${call} {SessionsTable}`)
          : [];
      const before = allowedCalls(template, functionOf(template, name));

      const now = allowedCalls(withTenants, functionOf(withTenants, name));
      expect(now.toSorted()).toEqual([...before, ...added].toSorted());
    }
    expect(variables(functionOf(withTenants, 'dispatch'))).toHaveProperty(sessionsTable.env);
  });

  test('tell places in the sources only where actions are worked on', () => {
    const mapped = functionNames.filter(
      (name) => variables(functionOf(template, name)).NODE_OPTIONS !== undefined,
    );

    expect(mapped).toEqual(['work']);
    expect(variables(functionOf(template, 'work'))).toMatchObject({ NODE_OPTIONS: '--enable-source-maps' });
  });

  test('are all there is: no helper of the CDK runs along', () => {
    expect(Object.keys(resourcesOf(template, 'AWS::Lambda::Function'))).toHaveLength(functionNames.length);
  });
});

interface Statement {
  readonly Action: string | string[];
  readonly Resource: unknown;
}

function callsOf(service: string, calls: Readonly<Record<string, readonly string[]>> = {}): string[] {
  return Object.entries(calls).flatMap(([resource, ofResource]) =>
    ofResource.map((call) => `${service}:${call} ${resource}`),
  );
}

/** `service:Call {Resource}`, the resource without the digest that the CDK ends its logical id with. */
function allowedCalls(from: Template, fn: Resource): string[] {
  return statementsOf(from, fn).flatMap(({ Action, Resource }) =>
    [Action]
      .flat()
      .flatMap((action) =>
        [Resource].flat().map((on) => `${action} ${resourceText(on).replace(/[0-9A-F]{8}\}/, '}')}`),
      ),
  );
}

function functionOf(from: Template, name: FunctionName): Resource {
  const { id } = serviceFunctions[name];
  const functions = Object.entries(resourcesOf(from, 'AWS::Lambda::Function'));
  const found = functions.filter(([logicalId]) => new RegExp(`^${id}[0-9A-F]{8}$`).test(logicalId));
  const fn = found[0]?.[1];
  if (fn === undefined || found.length > 1) throw new Error(`expected one function ${id}`);
  return fn;
}

function variables(fn: Resource): Record<string, unknown> {
  return fn.Properties.Environment?.Variables ?? {};
}

function statementsOf(from: Template, fn: Resource): Statement[] {
  const role = fn.Properties.Role['Fn::GetAtt'][0];
  const policies = Object.values(resourcesOf(from, 'AWS::IAM::Policy'));
  const ofRole = policies.filter(({ Properties }) =>
    Properties.Roles.some(({ Ref }: { Ref: string }) => Ref === role),
  );
  return ofRole.flatMap(({ Properties }) => Properties.PolicyDocument.Statement);
}
