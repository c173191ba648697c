import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';

export const usage =
  'npm start -- [--port 3000] [--host 127.0.0.1] [--data DIR | --memory] [--repair] [--agents FILE] [--stage NAME] [--quiet] [-h]';

/** The command line is wrong; the message says how, in one line. */
export class UsageError extends Error {
  constructor(problem: string) {
    super(`${problem}; usage: ${usage}`);
  }
}

export interface Arguments {
  readonly port: number;
  readonly host: string;
  /** Unset: in memory. */
  readonly data: string | undefined;
  readonly repair: boolean;
  /** Unset: those of the stage, or the project's. */
  readonly agents: string | undefined;
  /** Whose settings in cdk.json hold; unset: none. */
  readonly stage: string | undefined;
  readonly quiet: boolean;
}

/** What of a process's surroundings says how a server is to be started. */
export interface Surroundings {
  /** The folder of package.json. */
  readonly project: string;
  readonly directory: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
}

/**
 * Resolves undefined where help is wanted.
 *
 * @throws UsageError
 */
export function parseArguments(args: readonly string[], surroundings: Surroundings): Arguments | undefined {
  const { port, host = '127.0.0.1', data, memory = false, repair = false, ...rest } = parse(args);
  const { agents, stage, quiet = false, help } = rest;
  if (help) return undefined;
  if (memory && data !== undefined) throw new UsageError('--data and --memory exclude each other');
  if (memory && repair) throw new UsageError('--repair and --memory exclude each other');
  if (data === '' || agents === '' || host === '' || stage === '')
    throw new UsageError('--data, --agents, --stage and --host must not be empty');
  const base = directoryOfUser(surroundings);
  return {
    port:
      port === undefined ? portOf('PORT', surroundings.environment.PORT || '3000') : portOf('--port', port),
    host,
    data: memory ? undefined : resolve(base, data ?? join(surroundings.project, '.dormouse')),
    repair,
    agents: agents === undefined ? undefined : resolve(base, agents),
    stage,
    quiet,
  };
}

function portOf(name: string, given: string): number {
  if (/^\d{1,5}$/.test(given) && Number(given) <= 65_535) return Number(given);
  throw new UsageError(`${name} must be a number from 0 to 65535, not '${given}'`);
}

/** npm runs a script in the project's folder, and says where its user was. */
function directoryOfUser({ project, directory, environment }: Surroundings): string {
  const { npm_lifecycle_event: script = '', INIT_CWD = '' } = environment;
  const isRunByNpm = ['start', 'dev'].includes(script) && resolve(directory) === resolve(project);
  return isRunByNpm && INIT_CWD !== '' ? INIT_CWD : directory;
}

function parse(args: readonly string[]) {
  try {
    const { values } = parseArgs({
      args: [...args],
      options: {
        port: { type: 'string' },
        host: { type: 'string' },
        data: { type: 'string' },
        memory: { type: 'boolean' },
        repair: { type: 'boolean' },
        agents: { type: 'string' },
        stage: { type: 'string' },
        quiet: { type: 'boolean' },
        help: { type: 'boolean', short: 'h' },
      },
    });
    return values;
  } catch (error) {
    // What follows the first sentence is about arguments that begin with a dash.
    throw new UsageError((error as Error).message.split(/[.\n]/, 1)[0] ?? 'unknown arguments');
  }
}
