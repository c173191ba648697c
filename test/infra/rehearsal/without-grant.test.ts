import { expect, test } from 'vitest';
import type { AwsCalls } from '../../../infra/rehearsal/aws-calls.ts';
import { withoutGrant } from '../../../infra/rehearsal/without-grant.ts';

const read = {
  Effect: 'Allow',
  Action: 'dynamodb:GetItem',
  Resource: 'arn:aws:dynamodb:r:a:table/snapshots',
};
const log = { Effect: 'Allow', Action: ['logs:PutLogEvents'], Resource: ['arn:aws:logs:r:a:log-group:work'] };
const stack = {
  name: 'dormouse-dev',
  outputs: {},
  template: {
    Resources: {
      Work12345678: {
        Type: 'AWS::Lambda::Function',
        Properties: { Role: { 'Fn::GetAtt': ['WorkRole', 'Arn'] } },
      },
      WorkPolicy: {
        Type: 'AWS::IAM::Policy',
        Properties: { PolicyName: 'WorkPolicy', Roles: [{ Ref: 'WorkRole' }] },
      },
    },
  },
};
const grant = { fn: 'Work', action: 'dynamodb:GetItem', resource: 'table/snapshots' };

/** An account with the one policy of the one role. */
function accountWith(statements: readonly object[]) {
  let policy = JSON.stringify({ Version: '2012-10-17', Statement: statements });
  const refuse = () => Promise.reject(new Error('not a call of this test'));
  const aws: AwsCalls = {
    json: refuse,
    rest: refuse,
    query: async (_service, _version, { Action, RoleName, PolicyName, PolicyDocument }) => {
      if (Action === 'DescribeStackResources')
        return '<LogicalResourceId>WorkRole</LogicalResourceId><PhysicalResourceId>work-role</PhysicalResourceId>';
      expect([RoleName, PolicyName]).toEqual(['work-role', 'WorkPolicy']);
      policy = PolicyDocument ?? policy;
      return `<PolicyDocument>${encodeURIComponent(policy)}</PolicyDocument>`;
    },
  };
  return { aws, statements: () => JSON.parse(policy).Statement };
}

test('a role lacks the grant while the work goes on, and has it again, also where the work fails', async () => {
  const { aws, statements } = accountWith([log, read]);

  expect(await withoutGrant(aws, stack, grant, async () => statements())).toEqual([log]);
  expect(statements()).toEqual([log, read]);
  await expect(withoutGrant(aws, stack, grant, () => Promise.reject('no'))).rejects.toBe('no');
  expect(statements()).toEqual([log, read]);
});

test.each([
  ['that it does not have', [log]],
  ['that goes with another', [{ ...read, Resource: [read.Resource, 'arn:aws:dynamodb:r:a:table/runs'] }]],
])('a grant %s is not taken away', async (_what, given) => {
  const { aws, statements } = accountWith(given);

  await expect(withoutGrant(aws, stack, grant, async () => 'done')).rejects.toThrow(/expected one statement/);
  expect(statements()).toEqual(given);
});
