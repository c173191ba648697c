import { join } from 'node:path';
import { projectRoot } from './project.ts';

/** How a function becomes one file: what the stack hands to the CDK and the benchmark to esbuild. */
export const bundling = {
  /** As small and as quick to load as ES modules here, and CommonJS packages that agents import just work. */
  format: 'cjs',
  /** Not the runtime's version: the same bundle also runs where the project's tests run. */
  target: 'node20',
  mainFields: ['module', 'main'],
  /** See lib/schedules/schedule-descriptor.ts. */
  define: { 'process.env.DORMOUSE_SCHEDULES_CHECKED': '"true"' },
} as const;

/** As aliases they hold for an agents module outside the project as well. */
export function bundleAliases(agents: string): Readonly<Record<string, string>> {
  return { '#agents': agents, dormouse: join(projectRoot, 'lib/index.ts') };
}

/** The actions of each agent, which no function then has to load for their names: see `services`. */
export function definedActionNames(
  actionNames: Readonly<Record<string, readonly string[]>>,
): Readonly<Record<string, string>> {
  return { 'process.env.DORMOUSE_ACTION_NAMES': JSON.stringify(JSON.stringify(actionNames)) };
}
