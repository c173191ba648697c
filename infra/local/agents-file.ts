import { statSync } from 'node:fs';
import Module, { createRequire, register } from 'node:module';
import { dirname, join, resolve, sep } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { ownActions } from '../../lib/agents/actions.ts';
import type { AgentDefinition } from '../../lib/agents/agent-definition.ts';
import { indexAgents } from '../../lib/agents/define-agent.ts';
import { messageOf } from '../../lib/errors.ts';
import type { AgentsResolution } from './agents-hooks.ts';

/** The agents file cannot be used; the message says where and why, in one line. */
export class AgentsFileError extends Error {}

/**
 * Makes a file the agents module of this process; to be called before the handlers are loaded. The file may lie
 * anywhere: `dormouse` is this project's library to it. Resolves its agents, by name.
 *
 * @throws AgentsFileError
 */
export async function useAgentsFile(file: string): Promise<ReadonlyMap<string, AgentDefinition>> {
  const found = statSync(file, { throwIfNoEntry: false });
  if (found === undefined) throw new AgentsFileError(`there is no agents file ${file}`);
  if (!found.isFile())
    throw new AgentsFileError(`the agents file ${file} is no file, but a folder or the like`);
  const path = resolve(file);
  const agents = pathToFileURL(path).href;
  const library = new URL('../../lib/index.ts', import.meta.url).href;
  register<AgentsResolution>('./agents-hooks.ts', {
    parentURL: import.meta.url,
    data: { agents, library },
  });
  await shareWithCommonJs(library);
  try {
    const module: { default?: unknown } = await import(agents);
    const index = indexAgents(module.default as Parameters<typeof indexAgents>[0]);
    await Promise.all([...index.values()].map(ownActions));
    return index;
  } catch (error) {
    throw new AgentsFileError(
      `the agents file ${file} cannot be used: ${firstProblem(error, dirname(path))}`,
      {
        cause: error,
      },
    );
  }
}

/** A file that is CommonJS requires `dormouse`, and is to get the instance that the handlers import. */
async function shareWithCommonJs(library: string): Promise<void> {
  const path = fileURLToPath(library);
  const shared = Object.assign(new Module(path), { exports: await import(library), loaded: true });
  createRequire(import.meta.url).cache[path] = shared;
}

function firstProblem(error: unknown, folder: string): string {
  const [first = 'it threw', second] = messageOf(error)
    .split('\n')
    .filter((line) => line.trim() !== '');
  // esbuild puts a heading above its list of `file:line:column: ERROR: …`.
  if (/^Transform failed/.test(first)) return second ?? first;
  if (/ is not defined in ES module scope/.test(first))
    return 'it is CommonJS, and taken for an ES module: write import and export default, or name it .cjs';
  return [placeOf(error, folder), first].filter((part) => part !== undefined).join(': ');
}

/** Where in the files of its user an error was thrown, as `file:line:column`. */
function placeOf(error: unknown, folder: string): string | undefined {
  const stack = error instanceof Error ? String(error.stack) : '';
  const places = stack
    .split('\n')
    .flatMap((line) => /^ +at (?:.* \()?(.+:\d+:\d+)\)?$/.exec(line)?.[1] ?? []);
  return places
    .map((place) => (place.startsWith('file:') ? fileURLToPath(place) : place))
    .find((place) => place.startsWith(join(folder, sep)) && !place.includes('node_modules'));
}
