import { join } from 'node:path';
import { AgentsFileError, loadAgents } from '../agents-file.ts';
import { InvalidSettingsError } from '../settings.ts';
import { type Arguments, parseArguments, UsageError, usage } from './arguments.ts';
import { DataFolderError } from './data-folder.ts';
import { developerLog } from './developer-log.ts';
import { isLoopback } from './own-requests.ts';
import { startLocalServer } from './server.ts';
import { localSettings, settingsOfStage, setWorkerVariables } from './stage.ts';

/** What `npm start` does, in the project that lies in this folder. */
export async function main(project: string): Promise<void> {
  try {
    const surroundings = { project, directory: process.cwd(), environment: process.env };
    const args = parseArguments(process.argv.slice(2), surroundings);
    if (args === undefined) console.log(`usage: ${usage}`);
    else await run(project, args);
  } catch (error) {
    const reason = reasonOf(error);
    if (reason === undefined) throw error;
    console.error(`dormouse: ${reason}`);
    process.exit(error instanceof UsageError ? 2 : 1);
  }
}

async function run(project: string, { agents: file, stage, ...options }: Arguments): Promise<void> {
  // A write over the limit of a file's size fails, as one to a full disk does, and does not end the process.
  process.on('SIGXFSZ', () => {});
  const settings = stage === undefined ? undefined : settingsOfStage(project, stage);
  const isUnchecked = settings?.auth.kind === 'jwt';
  if (isUnchecked && !isLoopback(options.host))
    throw new UsageError(`--host must be a loopback address with the tokens of a stage: nobody checks them`);
  if (settings !== undefined) setWorkerVariables(settings, process.env);
  const own = settings?.agents ?? join(project, 'functions/agents.ts');
  const agents = [...(await loadAgents(file ?? own)).values()];
  const log = developerLog(options);
  const server = await startLocalServer({
    ...options,
    agents,
    schedules: true,
    log,
    settings: settings && localSettings(settings),
  });

  // npm passes on a Ctrl-C that the terminal has sent already: the second changes nothing.
  const end = () => void server.close().then(() => process.exit(0));
  process.on('SIGINT', end).on('SIGTERM', end);
  if (!options.quiet) console.log(`State is kept in ${options.data ?? 'memory, until this ends'}`);
  if (!isLoopback(options.host))
    console.error(
      `dormouse: whoever reaches ${options.host} can read and write all of it: nobody is asked who they are`,
    );
  if (isUnchecked)
    console.error(
      'dormouse: tokens are wanted, and believed whoever has signed them: this is for trying tenants',
    );
  console.log(`Dormouse is ready on ${server.url}`);
}

/** One line for what its user can put right; anything else is a fault of ours, and its stack is wanted. */
function reasonOf(error: unknown): string | undefined {
  const isTold = [UsageError, AgentsFileError, DataFolderError, InvalidSettingsError].some(
    (type) => error instanceof type,
  );
  if (isTold) return (error as Error).message;
  const { code, syscall, port, hostname } = error as NodeJS.ErrnoException & {
    port?: number;
    hostname?: string;
  };
  if (syscall === 'getaddrinfo') return `--host ${hostname} is no address of this machine: ${code}`;
  if (syscall !== 'listen') return undefined;
  return code === 'EADDRINUSE'
    ? `port ${port} is already in use; choose another with --port`
    : code === 'EADDRNOTAVAIL'
      ? `--host names no address of this machine: ${code}`
      : `cannot listen on port ${port}: ${code}`;
}
