import { fork } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { APIGatewayProxyEventV2, SQSEvent } from 'aws-lambda';
import { build } from 'esbuild';
import { bundleAliases, bundling } from '../../infra/bundling.ts';
import { projectRoot } from '../../infra/project.ts';
import { type FunctionName, serviceFunctions } from '../../infra/service-functions.ts';

/** The file that the stack would deploy for a function, but for minifying: a stack trace can be read. */
export async function bundleOf(name: FunctionName, folder: string): Promise<string> {
  const outfile = join(folder, `${name}.cjs`);
  await build({
    entryPoints: [join(projectRoot, serviceFunctions[name].entry)],
    ...{ outfile, bundle: true, platform: 'node', logLevel: 'error' },
    ...{ format: bundling.format, target: bundling.target, mainFields: [...bundling.mainFields] },
    define: { ...bundling.define },
    alias: { ...bundleAliases(join(projectRoot, 'test/support/lambda-agents.ts')) },
    nodePaths: [join(projectRoot, 'node_modules')],
  });
  return outfile;
}

/** What Lambda's bootstrap makes of a function's memory: nine tenths for old objects, a twentieth for new ones. */
const memoryMB = 1024;
const flags = [
  `--max-old-space-size=${Math.floor(memoryMB * 0.9)}`,
  `--max-semi-space-size=${Math.floor(memoryMB * 0.05)}`,
];

const host = `
  const { handler } = require(process.argv[2]);
  process.on('message', async ({ event, remainingMs }) => {
    const start = performance.now();
    const result = await handler(event, { getRemainingTimeInMillis: () => remainingMs, memoryLimitInMB: '1024' })
      .catch((error) => ({ statusCode: 0, body: String(error) }));
    const ms = performance.now() - start;
    // Lambda takes six megabytes of JSON back.
    const bytes = Buffer.byteLength(JSON.stringify(result));
    const text = result.body ?? JSON.stringify(result);
    const body = result.isBase64Encoded ? '' : String(text).slice(0, 1000);
    process.send({ status: result.statusCode, body, ms, bytes, peakMB: process.resourceUsage().maxRSS / 1024 });
  });
  process.send('ready');
`;

interface Answered {
  readonly status: number;
  readonly body: string;
  readonly ms: number;
  /** Of the answer, as Lambda passes it on. */
  readonly bytes: number;
  /** The most memory that the process has had so far. */
  readonly peakMB: number;
}

export interface LambdaProcess {
  /** Rejects where the process ends instead: out of memory, or its stack. */
  invoke(event: APIGatewayProxyEventV2 | SQSEvent, remainingMs?: number): Promise<Answered>;
  end(): Promise<void>;
}

/** A function in a process of its own, within the memory that Lambda gives it. */
export async function lambdaProcess(
  bundle: string,
  folder: string,
  env: Readonly<Record<string, string>>,
): Promise<LambdaProcess> {
  const script = join(folder, 'host.cjs');
  writeFileSync(script, host);
  const child = fork(script, [bundle], { execArgv: flags, env, stdio: ['ignore', 'ignore', 'pipe', 'ipc'] });
  let said = '';
  child.stderr?.on('data', (text) => {
    said = `${said}${text}`.slice(-2_000);
  });
  const ended = once(child, 'exit').then(([code, signal]) => {
    throw new Error(`the function's process ended (${code ?? signal}): ${said}`);
  });
  ended.catch(() => undefined);
  await Promise.race([once(child, 'message'), ended]);
  return {
    async invoke(event, remainingMs = 29_000) {
      const answer = once(child, 'message');
      child.send({ event, remainingMs });
      const [answered] = await Promise.race([answer, ended]);
      return answered as Answered;
    },
    async end() {
      const exit = once(child, 'exit');
      if (child.exitCode === null && child.signalCode === null) {
        child.kill('SIGKILL');
        await exit;
      }
    },
  };
}
