import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve, sep } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { type BuildFailure, build, type Plugin, stop } from 'esbuild';
import { ownActions } from '../lib/agents/actions.ts';
import type { AgentDefinition } from '../lib/agents/agent-definition.ts';
import { indexAgents } from '../lib/agents/define-agent.ts';
import * as library from '../lib/index.ts';
import { messageOf } from '../lib/message-of.ts';

/** The agents file cannot be used; the message says where and why, in one line. */
export class AgentsFileError extends Error {}

/**
 * The agents of a file that may lie anywhere, by name. It is bundled as for a deployment, so that what can be served
 * here is what can be deployed, except that packages stay where they are; `dormouse` is this process's library to it.
 *
 * @throws AgentsFileError
 */
export async function loadAgents(file: string): Promise<ReadonlyMap<string, AgentDefinition>> {
  const found = statSync(file, { throwIfNoEntry: false });
  if (found === undefined) throw new AgentsFileError(`there is no agents file ${file}`);
  if (!found.isFile())
    throw new AgentsFileError(`the agents file ${file} is no file, but a folder or the like`);
  const path = resolve(file);
  const folder = mkdtempSync(join(tmpdir(), 'dormouse-agents-'));
  try {
    const index = indexAgents(await evaluate(path, join(folder, 'agents.mjs')));
    await Promise.all([...index.values()].map(ownActions));
    return index;
  } catch (error) {
    throw new AgentsFileError(
      `the agents file ${file} cannot be used: ${firstProblem(error, dirname(path))}`,
      { cause: error },
    );
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const libraryKey = 'dormouse';

async function evaluate(file: string, outfile: string): Promise<Parameters<typeof indexAgents>[0]> {
  Object.assign(globalThis, { [Symbol.for(libraryKey)]: library });
  // Before the module is loaded: errors in it then tell the places in the sources.
  process.setSourceMapsEnabled(true);
  await build({
    // Imported as by the functions: what CommonJS exports by default depends on who asks.
    stdin: {
      ...{ contents: "export { default } from '#agents';", loader: 'ts' },
      ...{ sourcefile: 'services.mts', resolveDir: dirname(file) },
    },
    alias: { '#agents': file },
    ...{ bundle: true, platform: 'node', format: 'esm' },
    ...{ outfile, sourcemap: 'inline', sourcesContent: false, logLevel: 'silent', keepNames: true },
    // What CommonJS requires of Node and of packages.
    banner: {
      js: "import { createRequire as requireOf } from 'node:module'; const require = requireOf(import.meta.url);",
    },
    plugins: [oneLibrary, packagesInPlace],
  }).finally(stop);
  const module: { default: Parameters<typeof indexAgents>[0] } = await import(pathToFileURL(outfile).href);
  return module.default;
}

/** The library of this process, for the file and all that it imports: errors are told by their classes. */
const oneLibrary: Plugin = {
  name: 'one library',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^dormouse$/ }, ({ path }) => ({ path, namespace: 'library' }));
    onLoad({ filter: /./, namespace: 'library' }, () => ({
      contents: `module.exports = globalThis[Symbol.for('${libraryKey}')];`,
    }));
  },
};

/** Packages are left to Node, which finds beside them what is not JavaScript. Linked ones may be TypeScript. */
const packagesInPlace: Plugin = {
  name: 'packages in place',
  setup({ onResolve, resolve }) {
    onResolve({ filter: /^[^./#]/ }, async ({ path, pluginData, kind, ...from }) => {
      if (pluginData === packagesInPlace || kind === 'entry-point') return undefined;
      const found = await resolve(path, { ...from, kind, pluginData: packagesInPlace });
      if (found.external || !/[\\/]node_modules[\\/].*\.(?:[cm]?js|node)$/.test(found.path)) return found;
      const isImport = kind === 'import-statement' || kind === 'dynamic-import';
      return { path: isImport ? pathToFileURL(found.path).href : found.path, external: true };
    });
  },
};

function firstProblem(error: unknown, folder: string): string {
  const [found] = (error as Partial<BuildFailure>).errors ?? [];
  if (found !== undefined) {
    const { file, line, column } = found.location ?? {};
    const place = file === undefined ? [] : [`${resolve(file)}:${line}:${column}`];
    return [...place, found.text].join(': ');
  }
  const [first = 'it threw'] = messageOf(error)
    .split('\n')
    .filter((line) => line.trim() !== '');
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
