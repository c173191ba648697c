import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { withoutAws } from '../../../infra/rehearsal/emulator.ts';
import { endProcess, lastLines, runCommand, startProcess } from '../../../infra/rehearsal/processes.ts';

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'dormouse-processes-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

function node(script: string) {
  const logFile = join(folder, 'log');
  return { command: process.execPath, args: ['-e', script], env: process.env, cwd: folder, logFile };
}

test('a command resolves what it printed, on both streams', async () => {
  const output = await runCommand(node('console.log("out"); console.error("err")'));

  expect(output.split('\n').sort()).toEqual(['', 'err', 'out']);
});

test('a command that fails rejects with the end of what it printed', async () => {
  const command = node('console.log("the cause"); process.exitCode = 3');

  await expect(runCommand(command)).rejects.toThrow(/exit code 3\nthe cause$/);
});

test('a command that is not there rejects', async () => {
  await expect(runCommand({ ...node(''), command: join(folder, 'absent') })).rejects.toThrow('ENOENT');
});

test('ending a process ends what it started', async () => {
  const grandchild = 'setInterval(() => {}, 1000)';
  const script = `
    const child = require('node:child_process').spawn(process.execPath, ['-e', ${JSON.stringify(grandchild)}]);
    console.log(child.pid);
    setInterval(() => {}, 1000);`;
  const pid = await new Promise<number>((resolve) => {
    const child = startProcess({
      ...node(script),
      onOutput: (text) => endProcess(child).then(() => resolve(+text)),
    });
  });

  await expect.poll(() => isAlive(pid)).toBe(false);
  expect(readFileSync(join(folder, 'log'), 'utf8')).toBe(`${pid}\n`);
});

test('the last lines are those at the end, without empty ones after it', () => {
  expect(lastLines('a\nb\nc\n\n', 2)).toBe('b\nc');
  expect(lastLines('', 2)).toBe('');
});

test('nothing of AWS is left in the environment', () => {
  const env = {
    PATH: '/bin',
    AWS_PROFILE: 'work',
    AWS_SECRET_ACCESS_KEY: 'secret',
    AWS_ENDPOINT_URL_S3: 'x',
  };

  expect(withoutAws(env)).toEqual({ PATH: '/bin' });
});

/** A process that has ended but was not collected yet still answers to signal 0. */
function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
}
