import { expect, test } from 'vitest';
import { compareGrants, type FunctionCalls } from '../../../infra/rehearsal/compare-grants.ts';

const get = { fn: 'Thaw', action: 'dynamodb:GetItem', resource: '{Snapshots}' };
const query = { fn: 'Thaw', action: 'dynamodb:Query', resource: '{Snapshots}/index/*' };
const calledGet: FunctionCalls = {
  fn: 'Thaw',
  action: 'dynamodb:GetItem',
  resource: 'stack-snapshots-1',
  count: 3,
};
const physicalName = (id: string) => ({ Snapshots: 'stack-snapshots-1' })[id] ?? id;

test('a grant that was called on its resource is used, with the number of calls', () => {
  const again = { ...calledGet, count: 4 };

  const { grants, uncovered } = compareGrants([get], [calledGet, again], [], physicalName);

  expect(grants).toEqual([{ ...get, calls: 7, verdict: 'used', reason: '' }]);
  expect(uncovered).toEqual([]);
});

test('a grant is not used by another function, another action or another table', () => {
  const others = [
    { ...calledGet, fn: 'Forget' },
    { ...calledGet, action: 'dynamodb:PutItem' },
    { ...calledGet, resource: 'stack-snapshots-12' },
  ];

  const { grants, uncovered } = compareGrants([get], others, [], physicalName);

  expect(grants).toMatchObject([{ calls: 0, verdict: 'unused' }]);
  expect(uncovered).toEqual(others);
});

test('a grant on the indexes of a table is used through one of them, not through the table', () => {
  const onTable = { ...calledGet, action: 'dynamodb:Query' };
  const onIndex = { ...onTable, resource: 'stack-snapshots-1/index/by-agent' };

  expect(compareGrants([query], [onTable], [], physicalName).grants).toMatchObject([{ verdict: 'unused' }]);
  expect(compareGrants([query], [onIndex], [], physicalName).grants).toMatchObject([{ verdict: 'used' }]);
});

test('a grant on a secret is used by its name, which the ARN ends with, and no other', () => {
  const arn = 'arn:{AWS::Partition}:secretsmanager:{AWS::Region}:{AWS::AccountId}:secret:prod/key-??????';
  const granted = { fn: 'Work', action: 'secretsmanager:GetSecretValue', resource: arn };
  const called = { fn: 'Work', action: granted.action, resource: 'prod/key', count: 1 };
  const other = { ...called, resource: 'prod/key-2' };

  expect(compareGrants([granted], [called, other], [], physicalName)).toMatchObject({
    grants: [{ calls: 1, verdict: 'used' }],
    uncovered: [other],
  });
});

test('an action with a wildcard is never used', () => {
  const all = { ...get, action: 'dynamodb:*' };

  expect(compareGrants([all], [calledGet], [], physicalName)).toMatchObject({
    grants: [{ verdict: 'unused' }],
    uncovered: [calledGet],
  });
});

test('an unused grant may be explained, for one function or for every one', () => {
  const one = { fn: 'Thaw', action: 'dynamodb:GetItem', reason: 'one' };
  const every = { fn: 'every', action: 'dynamodb:Query', reason: 'every' };

  const { grants, stale } = compareGrants([get, query], [], [one, every], physicalName);

  expect(grants.map(({ verdict, reason }) => [verdict, reason])).toEqual([
    ['explained', 'one'],
    ['explained', 'every'],
  ]);
  expect(stale).toEqual([]);
});

test('a used grant needs no explanation, and an explanation of nothing is stale', () => {
  const used = { fn: 'Thaw', action: 'dynamodb:GetItem', reason: 'used after all' };
  const gone = { fn: 'Hibernate', action: 'dynamodb:GetItem', reason: 'gone' };

  const { grants, stale } = compareGrants([get], [calledGet], [used, gone], physicalName);

  expect(grants).toMatchObject([{ verdict: 'used', reason: '' }]);
  expect(stale).toEqual([gone]);
});

test('an explanation may be about one resource only', () => {
  const send = { fn: 'Dispatch', action: 'sqs:SendMessage', resource: '{TickDeadLetters0A1B2C3D}' };
  const other = { ...send, resource: '{RunQueue0A1B2C3D}' };
  const line = { fn: 'Dispatch', action: 'sqs:SendMessage', resource: 'TickDeadLetters', reason: 'why' };

  const { grants, stale } = compareGrants([send, other], [], [line], physicalName);

  expect(grants.map(({ verdict }) => verdict)).toEqual(['explained', 'unused']);
  expect(stale).toEqual([]);
  expect(compareGrants([other], [], [line], physicalName).stale).toEqual([line]);
});
