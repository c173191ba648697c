import { statSync } from 'node:fs';
import { register } from 'node:module';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
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
  if (!statSync(file, { throwIfNoEntry: false })?.isFile()) {
    throw new AgentsFileError(`there is no agents file ${file}`);
  }
  const agents = pathToFileURL(resolve(file)).href;
  const library = new URL('../../lib/index.ts', import.meta.url).href;
  register<AgentsResolution>('./agents-hooks.ts', {
    parentURL: import.meta.url,
    data: { agents, library },
  });
  try {
    const module: { default?: unknown } = await import(agents);
    return indexAgents(module.default as Parameters<typeof indexAgents>[0]);
  } catch (error) {
    throw new AgentsFileError(`the agents file ${file} cannot be used: ${firstProblem(error)}`, {
      cause: error,
    });
  }
}

/** esbuild puts a heading above its list of `file:line:column: ERROR: …`. */
function firstProblem(error: unknown): string {
  const lines = messageOf(error)
    .split('\n')
    .filter((line) => line.trim() !== '');
  return (/^Transform failed/.test(lines[0] ?? '') ? lines[1] : lines[0]) ?? 'it threw';
}
