import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Credentials, region } from './aws-calls.ts';
import { withoutAws } from './emulator.ts';
import { runCommand } from './processes.ts';

export interface SuiteOptions {
  readonly root: string;
  readonly endpoint: string;
  /** What the API is called: its requests carry it, and their signatures cover it. */
  readonly host: string;
  readonly caller: Credentials;
  readonly folder: string;
  readonly logFile: string;
}

export interface SuiteResult {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
}

/** The black-box suite of test/e2e against the deployed API, every request signed. Its own report goes to the screen. */
export async function runSuite(options: SuiteOptions): Promise<SuiteResult> {
  const { root, endpoint, host, caller, folder, logFile } = options;
  const resultFile = join(folder, 'suite.json');
  const env = {
    ...withoutAws(process.env),
    AWS_REGION: region,
    AWS_ACCESS_KEY_ID: caller.accessKeyId,
    AWS_SECRET_ACCESS_KEY: caller.secretAccessKey,
    DORMOUSE_TEST_URL: endpoint,
    DORMOUSE_TEST_HOST: host,
    DORMOUSE_TEST_SIGNED: '1',
    DORMOUSE_TEST_EMULATOR: '1',
  };
  const config = existsSync(join(root, 'vitest.e2e.config.ts'))
    ? ['--config', 'vitest.e2e.config.ts']
    : ['test/e2e'];
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${resultFile}`];
  const args = [join(root, 'node_modules/vitest/vitest.mjs'), 'run', ...config, ...reporters];
  const onOutput = (text: string) => process.stdout.write(text);
  try {
    await runCommand({ command: process.execPath, args, env, cwd: root, logFile, onOutput });
  } catch (error) {
    // Failing tests are in the result; without one, the suite did not get that far.
    if (!existsSync(resultFile)) throw error;
  }
  return countTests(JSON.parse(await readFile(resultFile, 'utf8')));
}

interface SuiteReport {
  readonly success: boolean;
  readonly numPassedTests: number;
  readonly numFailedTests: number;
  readonly numPendingTests: number;
  readonly numTodoTests: number;
}

/** A file that cannot even be loaded has no failed test, and still the suite has failed. */
export function countTests(report: SuiteReport): SuiteResult {
  const failed = report.success ? report.numFailedTests : Math.max(1, report.numFailedTests);
  return { passed: report.numPassedTests, failed, skipped: report.numPendingTests + report.numTodoTests };
}
