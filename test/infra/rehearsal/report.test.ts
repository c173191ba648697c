import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Report, StepError, table } from '../../../infra/rehearsal/report.ts';

beforeEach(() => {
  vi.spyOn(console, 'log').mockImplementation(() => {});
});
afterEach(() => {
  vi.restoreAllMocks();
});

test('the last line counts the checks, those of the suite included', () => {
  const report = new Report();
  report.check('one', true);
  report.check('two', false, 'why');
  report.count(10, 2);

  expect(report.summary().split('\n').at(-1)).toBe('rehearsal: 11 checks passed, 3 failed');
  expect(report.failed).toBe(3);
});

test('a step that throws has failed, with its time, and throws on', async () => {
  const report = new Report();

  await expect(report.step('deploy', () => Promise.reject(new Error('no')))).rejects.toBeInstanceOf(
    StepError,
  );

  expect(report.failed).toBe(1);
  expect(report.summary()).toMatch(/^deploy +0\.0 s$/m);
});

test('a step that does not throw resolves what it made', async () => {
  expect(await new Report().step('synth', async () => 'folder')).toBe('folder');
});

test('rows stand in columns', () => {
  expect(
    table([
      ['a', 'bb'],
      ['long', 'c'],
    ]),
  ).toBe('   a     bb\n   long  c');
});
