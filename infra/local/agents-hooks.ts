import { readFileSync } from 'node:fs';
import type { InitializeHook, LoadHook, ResolveHook } from 'node:module';
import { initSync, parse } from 'es-module-lexer';

/** Where the imports of an agents file lead. Runs on Node's thread for module hooks. */
export interface AgentsResolution {
  /** The agents file: what `#agents` is for the handlers too, as it is in a bundle. */
  readonly agents: string;
  /** The library: `dormouse`, the one instance of it that the handlers use. */
  readonly library: string;
}

let resolution: AgentsResolution;

export const initialize: InitializeHook<AgentsResolution> = (given) => {
  resolution = given;
  initSync();
};

export const resolve: ResolveHook = async (specifier, context, nextResolve) => {
  if (specifier === 'dormouse') return { url: resolution.library, format: 'module', shortCircuit: true };
  const target = specifier === '#agents' ? resolution.agents : specifier;
  const resolved = await nextResolve(target, context);
  // tsx hides what it takes for CommonJS behind a query, and prefers agents.ts to an agents.js that was asked for.
  const url = target === resolution.agents ? target : resolved.url.replace(/(?:%3F|\?)tsx-.*$/, '');
  return isSource(url) ? { ...resolved, url, format: formatOf(url, resolved.format) } : resolved;
};

/** CommonJS is left to Node's own loader: what such a file requires is found as by `require` anywhere. */
export const load: LoadHook = (url, context, nextLoad) =>
  context.format === 'commonjs' && isSource(url)
    ? { format: 'commonjs', source: null as never, shortCircuit: true }
    : nextLoad(url, context);

function isSource(url: string): boolean {
  return url.startsWith('file:') && /\.c?[jt]s$/.test(url) && !url.includes('/node_modules/');
}

/**
 * Without a package.json near it every file would be CommonJS, and could wait for nothing at its top level. So what is
 * written with import or export is a module, as in a bundle.
 */
function formatOf(url: string, format: string | null | undefined): 'commonjs' | 'module' {
  return format === 'module' || hasModuleSyntax(url) ? 'module' : 'commonjs';
}

function hasModuleSyntax(url: string): boolean {
  try {
    const [, , , isModule] = parse(readFileSync(new URL(url), 'utf8'));
    return isModule;
  } catch {
    // What is wrong with the file, whoever loads it says better.
    return true;
  }
}
