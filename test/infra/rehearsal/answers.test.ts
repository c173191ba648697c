import { describe, expect, test } from 'vitest';
import { changedNothing } from '../../../infra/rehearsal/cdk.ts';
import { unseenTypes } from '../../../infra/rehearsal/resource-lists.ts';
import { parsePhysicalNames } from '../../../infra/rehearsal/stack-resources.ts';
import { countTests } from '../../../infra/rehearsal/suite.ts';
import { countTypes } from '../../../infra/rehearsal/template.ts';
import { parseRequirements } from '../../../infra/rehearsal/venv.ts';

describe('what cdk deploy prints', () => {
  test('says that nothing changed only when every stack says so', () => {
    expect(changedNothing('\n✅  dormouse-dev (no changes)\n\n✨  Deployment time: 0.3s')).toBe(true);
    expect(changedNothing('\n✅  dormouse-dev\n')).toBe(false);
    expect(changedNothing('✅  one (no changes)\n✅  other\n')).toBe(false);
  });

  test('without a result it does not say so', () => {
    expect(changedNothing('no changes')).toBe(false);
  });
});

describe('what vitest reports', () => {
  const report = { success: true, numPassedTests: 5, numFailedTests: 0, numPendingTests: 2, numTodoTests: 1 };

  test('is counted as passed, failed and skipped', () => {
    expect(countTests(report)).toEqual({ passed: 5, failed: 0, skipped: 3 });
    expect(countTests({ ...report, success: false, numFailedTests: 3 })).toMatchObject({ failed: 3 });
  });

  test('a file that cannot be loaded is a failure', () => {
    expect(countTests({ ...report, success: false })).toMatchObject({ failed: 1 });
  });
});

test('physical names are read from the answer about the resources of a stack', () => {
  const member = (logical: string, physical: string) =>
    `<member><LogicalResourceId>${logical}</LogicalResourceId><PhysicalResourceId>${physical}</PhysicalResourceId></member>`;

  expect([
    ...parsePhysicalNames(`<X>${member('Table', 'stack-table')}\n${member('Fn', 'stack-fn')}</X>`),
  ]).toEqual([
    ['Table', 'stack-table'],
    ['Fn', 'stack-fn'],
  ]);
});

test('resources are counted by type, most first', () => {
  const fn = { Type: 'AWS::Lambda::Function' };

  expect(countTypes({ Resources: { A: { Type: 'AWS::IAM::Role' }, B: fn, C: fn } })).toBe(
    '2 Lambda::Function, 1 IAM::Role',
  );
});

test('a list in which nothing of the stack is seen is named, where the stack has such resources', () => {
  const template = { Resources: { Queue: { Type: 'AWS::SQS::Queue' }, Rule: { Type: 'AWS::Events::Rule' } } };
  const owned = new Map([
    ['AWS::SQS::Queue', []],
    ['AWS::Events::Rule', ['dormouse-dev_tick']],
    ['AWS::CloudWatch::Dashboard', []],
  ]);

  expect(unseenTypes(owned, template)).toEqual(['AWS::SQS::Queue']);
});

test('requirements must be pinned', () => {
  expect([...parseRequirements('# why\nministack==1.5.33\n\n')]).toEqual([['ministack', '1.5.33']]);
  expect(() => parseRequirements('ministack>=1.5')).toThrow('ministack>=1.5');
});
