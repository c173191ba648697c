import { type ChildProcess, spawn } from 'node:child_process';
import { appendFileSync } from 'node:fs';

export interface Command {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  readonly cwd: string;
  /** Everything it prints goes here. */
  readonly logFile: string;
  /** And here, as it comes. */
  readonly onOutput?: (text: string) => void;
}

const killAfterMs = 10_000;
const running = new Set<ChildProcess>();

/** Starts a process in a group of its own, so that ending the group's id ends what it started too, and nothing else. */
export function startProcess({ command, args, env, cwd, logFile, onOutput }: Command): ChildProcess {
  const child = spawn(command, args, { env, cwd, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      appendFileSync(logFile, text);
      onOutput?.(text);
    });
  }
  running.add(child);
  child.once('close', () => running.delete(child));
  child.once('error', () => running.delete(child));
  return child;
}

/** Resolves what the command printed; rejects with the end of it when it fails. */
export function runCommand(command: Command): Promise<string> {
  return new Promise((resolve, reject) => {
    let output = '';
    const onOutput = (text: string) => {
      output += text;
      command.onOutput?.(text);
    };
    const child = startProcess({ ...command, onOutput });
    child.once('error', reject);
    child.once('close', (code, signal) => {
      if (code === 0) resolve(output);
      else reject(new CommandError(command, signal ?? `exit code ${code}`, output));
    });
  });
}

class CommandError extends Error {
  constructor({ command, args }: Command, how: string, output: string) {
    super(`${[command, ...args].join(' ')}: ${how}\n${lastLines(output, 40)}`);
  }
}

export function lastLines(text: string, count: number): string {
  return text.trimEnd().split('\n').slice(-count).join('\n');
}

/** Ends a process and what it started: first politely, after ten seconds for good. */
export async function endProcess(child: ChildProcess): Promise<void> {
  if (!running.has(child)) return;
  const closed = new Promise((resolve) => child.once('close', resolve));
  const timer = setTimeout(() => signalGroup(child, 'SIGKILL'), killAfterMs);
  signalGroup(child, 'SIGTERM');
  await closed;
  clearTimeout(timer);
}

export async function endAllProcesses(): Promise<void> {
  await Promise.all([...running].map(endProcess));
}

function signalGroup({ pid }: ChildProcess, signal: NodeJS.Signals): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
