import { randomUUID } from 'node:crypto';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';

/**
 * `npm start`: the local server bundled into one file, which is loaded in half the time that it takes file by file. It
 * lies where packages are found from it, and is gone once it is loaded.
 */
const project = fileURLToPath(new URL('../..', import.meta.url));
const outfile = join(project, 'node_modules/.cache/dormouse', `${randomUUID()}.mjs`);

async function loadServer() {
  try {
    await build({
      entryPoints: [join(project, 'infra/local/main.ts')],
      // The agents are those of the command line.
      alias: { '#agents': join(project, 'infra/local/no-agents.ts') },
      ...{ bundle: true, packages: 'external', platform: 'node', format: 'esm' },
      ...{ outfile, sourcemap: 'inline', sourcesContent: false },
    });
    process.setSourceMapsEnabled(true);
    return await import(pathToFileURL(outfile).href);
  } finally {
    rmSync(outfile, { force: true });
  }
}

const { main } = await loadServer();
await main(project);
