import { fork } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { MemoryReport } from './report-memory.ts';

export interface ServerProcess {
  readonly url: string;
  /** What memory it has now. Rejects where it has ended. */
  memory(): Promise<MemoryReport>;
  end(): Promise<void>;
}

const pathOf = (file: string) => fileURLToPath(new URL(file, import.meta.url));

/** What `npm start` runs, in a process of its own on a free port, with the agents of the load. */
export async function serverProcess(...args: readonly string[]): Promise<ServerProcess> {
  const server = fork(
    pathOf('../../infra/local/start.js'),
    ['--port', '0', '--agents', pathOf('agents.ts'), ...args],
    {
      execArgv: ['--import', 'tsx', '--import', new URL('report-memory.ts', import.meta.url).href],
      stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
    },
  );
  const exit = once(server, 'exit');
  const ended = exit.then(([code, signal]) => {
    throw new Error(`the server has ended (${code ?? signal})`);
  });
  ended.catch(() => undefined);
  const ready = (async () => {
    for await (const line of createInterface({ input: server.stdout as NodeJS.ReadableStream })) {
      const [, url] = /^Dormouse is ready on (.+)$/.exec(line) ?? [];
      if (url !== undefined) return url;
    }
    return ended;
  })();
  const url = await Promise.race([ready, ended]);
  server.stdout?.resume();
  return {
    url,
    async memory() {
      const report = once(server, 'message');
      server.send('memory');
      const [memory] = await Promise.race([report, ended]);
      return memory as MemoryReport;
    },
    async end() {
      if (server.exitCode !== null || server.signalCode !== null) return;
      server.kill();
      await exit;
    },
  };
}
