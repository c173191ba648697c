import { expect, test } from 'vitest';
import { grantsOf, nameOf, resourceText } from '../../../infra/rehearsal/grants.ts';
import type { Template } from '../../../infra/rehearsal/template.ts';

const tableArn = { 'Fn::GetAtt': ['Snapshots0A1B2C3D', 'Arn'] };

function templateWith(roleProperties: object, statements: readonly object[]): Template {
  return {
    Resources: {
      Thaw0A1B2C3D: {
        Type: 'AWS::Lambda::Function',
        Properties: { Role: { 'Fn::GetAtt': ['ThawRole0A1B2C3D', 'Arn'] } },
      },
      ThawRole0A1B2C3D: { Type: 'AWS::IAM::Role', Properties: { ...roleProperties } },
      OtherRole0A1B2C3D: { Type: 'AWS::IAM::Role' },
      ThawPolicy: {
        Type: 'AWS::IAM::Policy',
        Properties: { Roles: [{ Ref: 'ThawRole0A1B2C3D' }], PolicyDocument: { Statement: statements } },
      },
      OtherPolicy: {
        Type: 'AWS::IAM::Policy',
        Properties: {
          Roles: [{ Ref: 'OtherRole0A1B2C3D' }],
          PolicyDocument: { Statement: [{ Effect: 'Allow', Action: 'sqs:SendMessage', Resource: '*' }] },
        },
      },
    },
  };
}

test("every action on every resource of the function's own policies is a grant", () => {
  const index = { 'Fn::Join': ['', [tableArn, '/index/*']] };
  const template = templateWith({}, [
    { Effect: 'Allow', Action: ['dynamodb:GetItem', 'dynamodb:Query'], Resource: [tableArn, index] },
    { Effect: 'Allow', Action: 'logs:PutLogEvents', Resource: '*' },
  ]);

  expect(grantsOf(template)).toEqual([
    { fn: 'Thaw', action: 'dynamodb:GetItem', resource: '{Snapshots0A1B2C3D}' },
    { fn: 'Thaw', action: 'dynamodb:GetItem', resource: '{Snapshots0A1B2C3D}/index/*' },
    { fn: 'Thaw', action: 'dynamodb:Query', resource: '{Snapshots0A1B2C3D}' },
    { fn: 'Thaw', action: 'dynamodb:Query', resource: '{Snapshots0A1B2C3D}/index/*' },
    { fn: 'Thaw', action: 'logs:PutLogEvents', resource: '*' },
  ]);
});

test('a denied action is none, and a statement of what is not granted grants everything else', () => {
  const template = templateWith({}, [
    { Effect: 'Deny', Action: 'dynamodb:GetItem', Resource: tableArn },
    { Effect: 'Allow', NotAction: 'iam:*', Resource: '*' },
  ]);

  expect(grantsOf(template)).toEqual([{ fn: 'Thaw', action: '*', resource: '*' }]);
});

test('policies inside the role and managed ones count too', () => {
  const statement = { Effect: 'Allow', Action: 'sqs:SendMessage', Resource: tableArn };
  const managed = {
    'Fn::Join': ['', ['arn:', { Ref: 'AWS::Partition' }, ':iam::aws:policy/service-role/Basic']],
  };
  const template = templateWith(
    { ManagedPolicyArns: [managed], Policies: [{ PolicyDocument: { Statement: [statement] } }] },
    [],
  );

  expect(grantsOf(template)).toEqual([
    { fn: 'Thaw', action: 'policy Basic', resource: '*' },
    { fn: 'Thaw', action: 'sqs:SendMessage', resource: '{Snapshots0A1B2C3D}' },
  ]);
});

test('an ARN expression names what it refers to in braces', () => {
  expect(resourceText('*')).toBe('*');
  expect(resourceText({ Ref: 'Topic' })).toBe('{Topic}');
  expect(resourceText(tableArn)).toBe('{Snapshots0A1B2C3D}');
  // biome-ignore lint/suspicious/noTemplateCurlyInString: CloudFormation's own placeholders
  expect(resourceText({ 'Fn::Sub': '${Table.Arn}/index/${Name}' })).toBe('{Table}/index/{Name}');
});

test("a function's name is its logical id without the digest", () => {
  expect(nameOf('ListInstances8AF2C083')).toBe('ListInstances');
  expect(nameOf('SnapshotsTable')).toBe('SnapshotsTable');
});
