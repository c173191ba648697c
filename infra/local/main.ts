import { AgentsFileError, useAgentsFile } from './agents-file.ts';
import { type Arguments, parseArguments, UsageError, usage } from './arguments.ts';
import { DataFolderError } from './data-folder.ts';

try {
  const args = process.argv.slice(2);
  if (args.includes('--help')) console.log(`usage: ${usage}`);
  else await run(parseArguments(args));
} catch (error) {
  const reason = reasonOf(error);
  if (reason === undefined) throw error;
  console.error(`dormouse: ${reason}`);
  process.exit(error instanceof UsageError ? 2 : 1);
}

async function run({ agents, ...options }: Arguments): Promise<void> {
  await useAgentsFile(agents);
  const { startLocalServer } = await import('./server.ts');
  const server = await startLocalServer({ ...options, schedules: true });

  // npm passes on a Ctrl-C that the terminal has sent already: the second changes nothing.
  const end = () => void server.close().then(() => process.exit(0));
  process.on('SIGINT', end).on('SIGTERM', end);
  if (!options.quiet) console.log(`State is kept in ${options.data ?? 'memory, until this ends'}`);
  console.log(`Dormouse is ready on ${server.url}`);
}

/** One line for what its user can put right; anything else is a fault of ours, and its stack is wanted. */
function reasonOf(error: unknown): string | undefined {
  if (error instanceof UsageError || error instanceof AgentsFileError || error instanceof DataFolderError) {
    return error.message;
  }
  const { code, syscall, port } = error as NodeJS.ErrnoException & { port?: number };
  if (syscall !== 'listen') return undefined;
  return code === 'EADDRINUSE'
    ? `port ${port} is already in use; choose another with --port`
    : `cannot listen on port ${port}: ${code}`;
}
