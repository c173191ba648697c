import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Template } from 'aws-cdk-lib/assertions';
import { describe, expect, test } from 'vitest';
import { projectRoot } from '../../infra/project.ts';
import { type FunctionName, functionNames, serviceFunctions } from '../../infra/service-functions.ts';
import { tables } from '../../lib/dynamodb/tables.ts';
import { environment } from '../../lib/environment.ts';
import { type Resource, resourcesOf, synthesizedStack } from './synthesized-stack.ts';

/** What each function may do, besides writing its log. The rehearsal compares this with what it was seen to do. */
const permitted: Record<FunctionName, string[]> = {
  hibernate: ['dynamodb:DeleteItem', 'dynamodb:GetItem', 'dynamodb:PutItem', 'dynamodb:UpdateItem'],
  thaw: ['dynamodb:GetItem'],
  forget: ['dynamodb:DeleteItem', 'dynamodb:GetItem', 'dynamodb:UpdateItem'],
  'list-instances': ['dynamodb:Query'],
  'list-agents': [],
  'describe-api': [],
  fallback: [],
};

const { template } = synthesizedStack();

describe.each(functionNames)('the function %s', (name) => {
  const fn = functionOf(template, name);

  test('runs on Node.js 24 on arm64, for less time than API Gateway waits', () => {
    expect(fn.Properties).toMatchObject({
      Runtime: 'nodejs24.x',
      Architectures: ['arm64'],
      MemorySize: 1024,
      Timeout: 29,
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

  test('may make exactly the calls that it makes', () => {
    const actions = statementsOf(template, fn).flatMap(({ Action }) => Action);

    expect(actions.toSorted()).toEqual(
      [...permitted[name], 'logs:CreateLogStream', 'logs:PutLogEvents'].toSorted(),
    );
  });

  test('may make them on its own log group and its tables only', () => {
    const logGroup = fn.Properties.LoggingConfig.LogGroup.Ref;
    const own = [logGroup, ...serviceFunctions[name].access.map(({ table }) => `${table.id}Table`)];

    const resources = statementsOf(template, fn).flatMap(({ Resource }) => Resource);

    expect(resources).toEqual(own.map((id) => ({ 'Fn::GetAtt': [id, 'Arn'] })));
  });

  test('knows the names of exactly the tables that it may use', () => {
    const names = tables.map(({ env }) => env).filter((env) => variables(fn)[env] !== undefined);

    expect(names).toEqual(serviceFunctions[name].access.map(({ table }) => table.env));
  });
});

describe('the functions', () => {
  test('may together make every DynamoDB call that the code makes', () => {
    const folder = join(projectRoot, 'lib/dynamodb');
    const source = readdirSync(folder).map((file) => readFileSync(join(folder, file), 'utf8'));

    const called = source.flatMap((text) =>
      [...text.matchAll(/\bnew (\w+)Command\(/g)].map(([, call]) => call),
    );

    const granted = Object.values(permitted).flat();
    expect(new Set(granted)).toEqual(new Set(called.map((call) => `dynamodb:${call}`)));
  });

  test('carry the settings, and no tenant claim unless one is set', () => {
    const other = synthesizedStack({
      strictAgents: true,
      auth: 'jwt',
      jwtIssuer: 'https://issuer.example.com/',
      jwtAudience: 'dormouse',
      tenantClaim: 'tenant',
    }).template;

    for (const name of functionNames) {
      expect(variables(functionOf(template, name))[environment.strictAgents]).toBe('false');
      expect(variables(functionOf(template, name))).not.toHaveProperty(environment.tenantClaim);
      expect(variables(functionOf(other, name))).toMatchObject({
        [environment.strictAgents]: 'true',
        [environment.tenantClaim]: 'tenant',
      });
    }
  });

  test('are all there is: no helper of the CDK runs along', () => {
    expect(Object.keys(resourcesOf(template, 'AWS::Lambda::Function'))).toHaveLength(functionNames.length);
  });
});

interface Statement {
  readonly Action: string | string[];
  readonly Resource: unknown;
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
