import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { parseArguments, UsageError } from '../../../infra/local/arguments.ts';

const project = fileURLToPath(new URL('../../..', import.meta.url));

function parse(args: readonly string[], environment: Record<string, string> = {}, directory = '/home/ann') {
  return parseArguments(args, { project, directory, environment });
}

describe('paths on the command line', () => {
  it.each([
    ['run by hand', '/home/ann', {}, '/home/ann'],
    ['run by npm', project, { npm_lifecycle_event: 'start', INIT_CWD: '/home/ann' }, '/home/ann'],
    ['restarted on change', project, { npm_lifecycle_event: 'dev', INIT_CWD: '/home/ann' }, '/home/ann'],
    [
      'run by a script of another project',
      '/srv',
      { npm_lifecycle_event: 'start', INIT_CWD: '/home' },
      '/srv',
    ],
    [
      'run by a test of this one',
      project,
      { npm_lifecycle_event: 'test', INIT_CWD: '/home' },
      resolve(project),
    ],
  ])('are relative to where the user is: %s', (_case, directory, environment, base) => {
    const given = parse(['--agents', 'a.ts', '--data', '../d'], environment, directory);

    expect(given).toMatchObject({ agents: resolve(base, 'a.ts'), data: resolve(base, '../d') });
  });

  it('are the project’s where none are given, wherever the user is', () => {
    expect(parse([])).toMatchObject({
      // The stage's, or else the project's: see main.ts.
      agents: undefined,
      data: resolve(project, '.dormouse'),
      host: '127.0.0.1',
    });
  });
});

describe('the port', () => {
  it.each([
    [3000, [], {}],
    [3000, [], { PORT: '' }],
    [3213, [], { PORT: '3213' }],
    [3100, ['--port', '3100'], { PORT: '3213' }],
    [3100, ['--port=3100'], { PORT: 'nonsense' }],
  ])('is %i by %j and %j', (port, args, environment) => {
    expect(parse(args, environment)?.port).toBe(port);
  });

  it.each(['abc', '70000', '-1', '3000x', ' '])('is refused by name where PORT is %j', (PORT) => {
    expect(() => parse([], { PORT })).toThrow(`PORT must be a number from 0 to 65535, not '${PORT}'`);
  });
});

it.each([['-h'], ['--help']])('%s asks for help', (flag) => {
  expect(parse([flag, '--memory'])).toBeUndefined();
});

it.each([
  ['an unknown flag', ['--nope'], '--nope'],
  ['an argument too many', ['3000'], '3000'],
  ['a flag without its value', ['--port'], '--port'],
  ['a port that is none', ['--port', '70000'], '70000'],
  ['two places for the data', ['--memory', '--data', 'd'], '--memory'],
  ['a repair of no folder', ['--memory', '--repair'], '--repair'],
])('%s is refused in one line that names it, and says what is allowed', (_case, args, named) => {
  const refusal = thrownBy(() => parse(args));

  expect(refusal).toBeInstanceOf(UsageError);
  expect((refusal as Error).message).toContain(named);
  expect((refusal as Error).message).toMatch(/^[^\n]+; usage: npm start [^\n]+$/);
});

function thrownBy(call: () => unknown): unknown {
  try {
    return call();
  } catch (error) {
    return error;
  }
}
