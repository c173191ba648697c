import { execFile } from 'node:child_process';
import { dirname } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** The major version of the Lambda runtime that the stack asks for (nodejs24.x). */
const major = 24;

/** The folder with a `node` of the Lambda runtime's version: the emulator runs functions with the `node` on its PATH. */
export async function lambdaNodeFolder(root: string): Promise<string> {
  if (process.versions.node.startsWith(`${major}.`)) return dirname(process.execPath);
  const { stdout } = await run('npx', ['-y', `node@${major}`, '-p', 'process.execPath'], { cwd: root });
  return dirname(stdout.trim());
}
