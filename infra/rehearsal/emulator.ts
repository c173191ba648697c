import { readFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { delimiter } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { endProcess, lastLines, startProcess } from './processes.ts';

export interface Emulator {
  readonly url: string;
  readonly logFile: string;
  stop(): Promise<void>;
}

export interface EmulatorOptions {
  readonly program: string;
  readonly nodeFolder: string;
  /** Its state, the functions' code and its log: all of it may go afterwards. */
  readonly folder: string;
  readonly logFile: string;
}

const readyWithinMs = 60_000;

/** Starts the emulator on a free loopback port with IAM enforced and every call recorded. Resolves when it answers. */
export async function startEmulator(options: EmulatorOptions): Promise<Emulator> {
  const { program, nodeFolder, folder, logFile } = options;
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const env = {
    ...withoutAws(process.env),
    PATH: [nodeFolder, process.env.PATH].join(delimiter),
    TMPDIR: folder,
    GATEWAY_PORT: String(port),
    BIND_HOST: '127.0.0.1',
    AUTH: 'true',
    IOT_MTLS_ENABLED: '0',
    SFTP_ENABLED: '0',
    CLOUDTRAIL_RECORDING: '1',
    CLOUDTRAIL_MAX_EVENTS: '1000000',
    // One line for each request that arrives, also for those that are refused and therefore not recorded.
    LOG_LEVEL: 'DEBUG',
  };
  const child = startProcess({ command: program, args: [], env, cwd: folder, logFile });
  const stop = () => endProcess(child);
  try {
    await untilHealthy(url, () => child.exitCode !== null);
  } catch (error) {
    await stop();
    throw new Error(`the emulator did not start\n${await logTail(logFile)}`, { cause: error });
  }
  return { url, logFile, stop };
}

/** Nobody's credentials, region or endpoint reach a rehearsal, so that it cannot reach anybody's account. */
export function withoutAws(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !name.startsWith('AWS_')));
}

export async function logTail(logFile: string): Promise<string> {
  return lastLines(await readFile(logFile, 'utf8').catch(() => ''), 30);
}

async function untilHealthy(url: string, hasEnded: () => boolean): Promise<void> {
  const deadline = Date.now() + readyWithinMs;
  while (Date.now() < deadline && !hasEnded()) {
    const response = await fetch(`${url}/_ministack/health`).catch(() => undefined);
    if (response?.ok) return;
    await sleep(100);
  }
  throw new Error(hasEnded() ? 'it ended at once' : `no answer within ${readyWithinMs / 1000} s`);
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer().once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address !== null ? address.port : 0));
    });
  });
}
