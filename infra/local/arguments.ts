import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

export const usage = 'npm start -- [--port 3000] [--data DIR | --memory] [--agents FILE] [--quiet]';

/** The command line is wrong; the message says how, in one line. */
export class UsageError extends Error {
  constructor(problem: string) {
    super(`${problem}; usage: ${usage}`);
  }
}

export interface Arguments {
  readonly port: number;
  /** Unset: in memory. */
  readonly data: string | undefined;
  readonly agents: string;
  readonly quiet: boolean;
}

/** @throws UsageError */
export function parseArguments(args: readonly string[]): Arguments {
  const { port = '3000', data, memory = false, agents, quiet = false } = parse(args);
  if (!/^\d{1,5}$/.test(port) || Number(port) > 65_535) {
    throw new UsageError(`--port must be a number from 0 to 65535, not '${port}'`);
  }
  if (memory && data !== undefined) throw new UsageError('--data and --memory exclude each other');
  if (data === '' || agents === '') throw new UsageError('--data and --agents must not be empty');
  return {
    port: Number(port),
    data: memory ? undefined : resolve(data ?? inProject('.dormouse')),
    agents: resolve(agents ?? inProject('functions/agents.ts')),
    quiet,
  };
}

function parse(args: readonly string[]) {
  try {
    const { values } = parseArgs({
      args: [...args],
      options: {
        port: { type: 'string' },
        data: { type: 'string' },
        memory: { type: 'boolean' },
        agents: { type: 'string' },
        quiet: { type: 'boolean' },
      },
    });
    return values;
  } catch (error) {
    // What follows the first sentence is about arguments that begin with a dash.
    throw new UsageError((error as Error).message.split(/[.\n]/, 1)[0] ?? 'unknown arguments');
  }
}

function inProject(path: string): string {
  return fileURLToPath(new URL(`../../${path}`, import.meta.url));
}
