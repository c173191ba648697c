import { type ChildProcess, type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';

const project = fileURLToPath(new URL('../../..', import.meta.url));

export interface Ending {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGKILL');
  await once(child, 'exit');
}

/** A folder of this test's own, removed after it. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'dormouse-local-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}

function start(args: readonly string[]) {
  return follow(
    spawn(process.execPath, ['infra/local/start.js', ...args], {
      cwd: project,
      stdio: ['ignore', 'pipe', 'pipe'],
    }),
  );
}

function follow(child: ChildProcessByStdio<null, Readable, Readable>) {
  onTestFinished(() => end(child));
  const output = { stdout: '', stderr: '' };
  child.stdout.on('data', (text) => {
    output.stdout += text;
  });
  child.stderr.on('data', (text) => {
    output.stderr += text;
  });
  const ended = once(child, 'close').then(([code]): Ending => ({ code, ...output }));
  return { child, ended, printed: () => output };
}

/** `npm start` to its end. */
export function runToEnd(...args: string[]): Promise<Ending> {
  return start(args).ended;
}

export interface LocalProcess {
  readonly url: string;
  readonly pid: number;
  /** What it has printed so far. */
  printed(): Omit<Ending, 'code'>;
  /** Resolves when the process has ended, with all that it printed. */
  readonly ended: Promise<Ending>;
  kill(signal: NodeJS.Signals): void;
}

/** `npm start` on a free port, once it says that it is ready. */
export function startUntilReady(...args: string[]): Promise<LocalProcess> {
  return untilReady(start(['--port', '0', ...args]));
}

/** The real `npm start` of a user in that directory. What it takes a port from is the environment. */
export function npmStart(cwd: string, ...args: string[]): Promise<LocalProcess> {
  return npmRun('start', cwd, ...args);
}

/** Likewise, of any of its scripts that prints where it is ready. */
export function npmRun(script: string, cwd: string, ...args: string[]): Promise<LocalProcess> {
  const { INIT_CWD, ...environment } = process.env;
  const child = spawn('npm', ['--prefix', project, 'run', script, '--', ...args], {
    cwd,
    env: { ...environment, PORT: '0' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  return untilReady(follow(child));
}

async function untilReady({ child, ended, printed }: ReturnType<typeof follow>): Promise<LocalProcess> {
  const ready = (async () => {
    for await (const line of createInterface(child.stdout)) {
      const url = /^Dormouse is ready on (http:\/\/127\.0\.0\.1:\d+)$/.exec(line)?.[1];
      if (url !== undefined) return url;
    }
    throw new Error(`never ready: ${(await ended).stderr}`);
  })();
  const url = await ready;
  child.stdout.resume();
  return { url, pid: child.pid as number, printed, ended, kill: (signal) => void child.kill(signal) };
}
