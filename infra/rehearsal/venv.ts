import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { runCommand } from './processes.ts';

const run = promisify(execFile);

/** The emulator's program in the project's virtual environment, which is made, and filled, only when it is not as wanted. */
export async function emulatorProgram(root: string, logFile: string): Promise<string> {
  const venv = join(root, '.rehearsal');
  const requirements = join(import.meta.dirname, 'requirements.txt');
  const wanted = parseRequirements(await readFile(requirements, 'utf8'));
  if (!(await hasAll(join(venv, 'bin/python'), wanted))) {
    const options = { cwd: root, env: process.env, logFile };
    await runCommand({ command: 'python3', args: ['-m', 'venv', venv], ...options });
    const install = ['install', '--disable-pip-version-check', '--quiet', '-r', requirements];
    await runCommand({ command: join(venv, 'bin/pip'), args: install, ...options });
  }
  return join(venv, 'bin/ministack');
}

/** `name==version` lines: pinned, or the rehearsal would not be the same tomorrow. */
export function parseRequirements(text: string): Map<string, string> {
  const lines = text.split('\n').map((line) => line.trim());
  const pins = lines.filter((line) => line !== '' && !line.startsWith('#'));
  return new Map(
    pins.map((pin) => {
      const [name, version] = pin.split('==');
      if (!name || !version) throw new Error(`requirements.txt: "${pin}" is not name==version`);
      return [name, version];
    }),
  );
}

async function hasAll(python: string, wanted: ReadonlyMap<string, string>): Promise<boolean> {
  const script = `import importlib.metadata as m, sys\nfor name in sys.argv[1:]: print(m.version(name))`;
  try {
    const { stdout } = await run(python, ['-c', script, ...wanted.keys()]);
    return stdout.trim().split(/\s+/).join() === [...wanted.values()].join();
  } catch {
    return false;
  }
}
