import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildSync } from 'esbuild';
import { bundleAliases, bundling } from '../../infra/bundling.ts';
import { lazyModules } from '../../infra/lazy-modules.ts';
import { projectRoot } from '../../infra/project.ts';
import { median } from './measure.ts';
import type { Ratio } from './warm-calls.ts';

const agents = join(projectRoot, 'functions/agents.ts');
const rounds = 41;
const bundleMaxKB = 450;

/** The client and the commands that the functions use, and nothing else. */
const clientAlone = `
  import { DeleteItemCommand, DynamoDBClient, GetItemCommand, PutItemCommand, UpdateItemCommand } from '@aws-sdk/client-dynamodb';
  export const handler = () => [DeleteItemCommand, DynamoDBClient, GetItemCommand, PutItemCommand, UpdateItemCommand];
`;

export interface BundleSize {
  readonly name: string;
  readonly kB: number;
  readonly limitKB: number;
}

/** Sizes of the hot-path bundles, made as the stack makes them, and how long they take to load. */
export function bundleLoads(): { sizes: BundleSize[]; ratios: Ratio[] } {
  const folder = mkdtempSync(join(tmpdir(), 'dormouse-bench-'));
  try {
    const baseline = join(folder, 'client-alone.mjs');
    writeFileSync(baseline, clientAlone);
    const entries = { 'client alone': baseline, hibernate: entry('hibernate'), thaw: entry('thaw') };
    const bundles = Object.entries(entries).map(([name, file]) => ({
      name,
      file: bundle(file, join(folder, `${name}.cjs`)),
    }));

    const times: Record<string, number[]> = {};
    for (let round = -1; round < rounds; round++) {
      for (const { name, file } of bundles) {
        const ms = loadMs(file);
        if (round >= 0) times[name] = [...(times[name] ?? []), ms];
      }
    }

    const hot = bundles.filter(({ name }) => name !== 'client alone');
    const baselineMs = median(times['client alone'] ?? []);
    return {
      sizes: hot.map(({ name, file }) => ({ name, kB: statSync(file).size / 1024, limitKB: bundleMaxKB })),
      ratios: hot.map(({ name }) => ({
        ...{ what: `load of the ${name} bundle`, baseline: 'load of the SDK client alone', baselineMs },
        ms: median(times[name] ?? []),
      })),
    };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function entry(name: string): string {
  return join(projectRoot, `functions/http/instances/${name}.ts`);
}

function bundle(file: string, outfile: string): string {
  buildSync({
    ...{ entryPoints: [file], outfile, bundle: true, minify: true, platform: 'node', logLevel: 'error' },
    ...{ format: bundling.format, target: bundling.target, mainFields: [...bundling.mainFields] },
    define: { ...bundling.define },
    alias: { ...bundleAliases(agents) },
    external: lazyModules(agents),
    nodePaths: [join(projectRoot, 'node_modules')],
  });
  return outfile;
}

/** In a process of its own, as a cold start is. */
function loadMs(file: string): number {
  const script = `const start = performance.now(); require(${JSON.stringify(file)}); console.log(performance.now() - start);`;
  return Number(execFileSync(process.execPath, ['-e', script], { encoding: 'utf8' }));
}
