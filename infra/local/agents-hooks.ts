import type { InitializeHook, ResolveHook } from 'node:module';

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
};

export const resolve: ResolveHook = async (specifier, context, nextResolve) => {
  if (specifier === 'dormouse') return { url: resolution.library, format: 'module', shortCircuit: true };
  const target = specifier === '#agents' ? resolution.agents : specifier;
  const resolved = await nextResolve(target, context);
  // tsx hides what it takes for CommonJS behind a query.
  const url = resolved.url.replace(/(?:%3F|\?)tsx-.*$/, '');
  return isSource(url) ? { ...resolved, url, format: 'module' } : resolved;
};

/** Without a package.json near it such a file would become CommonJS, which loads the library a second time. */
function isSource(url: string): boolean {
  return url.startsWith('file:') && /\.[jt]s$/.test(url) && !url.includes('/node_modules/');
}
