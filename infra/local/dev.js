import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { context } from 'esbuild';

/**
 * `npm run dev`: `npm start`, started anew whenever a file changes that the server or the agents file imports. What is
 * wrong with a change is said by the server that does not start; it is tried again at the next change.
 */
const pathOf = (file) => fileURLToPath(new URL(file, import.meta.url));

const args = process.argv.slice(2);
const { agents } = parseArgs({ args, strict: false, options: { agents: { type: 'string' } } }).values;
const agentsFile = agents
  ? resolve(process.env.INIT_CWD ?? '.', agents)
  : pathOf('../../functions/agents.ts');

const isRunning = (child) => child !== undefined && child.exitCode === null && child.signalCode === null;
let server;
let turn = Promise.resolve();

async function restart() {
  if (isRunning(server)) {
    server.removeAllListeners('exit').kill('SIGTERM');
    await once(server, 'exit');
  }
  server = spawn(process.execPath, [pathOf('start.js'), ...args], { stdio: 'inherit' });
  // Help, a command line that is wrong, and an end that was asked for: nothing that a change of a file mends.
  server.on('exit', (code) => code !== 1 && process.exit(code ?? 1));
}

const watched = await context({
  entryPoints: [pathOf('main.ts'), agentsFile],
  alias: { '#agents': agentsFile, dormouse: pathOf('../../lib/index.ts') },
  ...{ bundle: true, packages: 'external', platform: 'node', format: 'esm' },
  ...{ write: false, outdir: 'unused', logLevel: 'silent' },
  plugins: [
    {
      name: 'restart',
      setup({ onEnd }) {
        onEnd(() => {
          turn = turn.then(restart);
        });
      },
    },
  ],
});
for (const signal of ['SIGINT', 'SIGTERM']) {
  process.on(signal, () => {
    if (isRunning(server)) server.kill(signal);
    else process.exit(0);
  });
}
await watched.watch();
