import { dirname, join } from 'node:path';
import { buildSync } from 'esbuild';
import { bundleAliases } from './bundling.ts';

/**
 * The files that an agents module, or what it takes of the library, imports only when somebody asks, as it does with
 * actions: what a worker has in its bundle, and no other function. Absolute paths; a file that is imported otherwise too
 * is not among them.
 */
export function lazyModules(agents: string): string[] {
  const { metafile } = buildSync({
    entryPoints: [agents],
    ...{ bundle: true, write: false, metafile: true, logLevel: 'silent', outdir: 'unused' },
    ...{ platform: 'node', format: 'esm', packages: 'external', absWorkingDir: dirname(agents) },
    alias: bundleAliases(agents),
  });
  // The library is read as a whole: what nothing of it needs is in no output.
  const bundled = new Set(Object.values(metafile.outputs).flatMap(({ inputs }) => Object.keys(inputs)));
  const imports = Object.entries(metafile.inputs).flatMap(([path, input]) =>
    bundled.has(path) ? input.imports : [],
  );
  const own = imports.filter(({ external }) => !external);
  const always = new Set(own.filter(({ kind }) => kind !== 'dynamic-import').map(({ path }) => path));
  const lazy = own.filter(({ kind, path }) => kind === 'dynamic-import' && !always.has(path));
  return [...new Set(lazy.map(({ path }) => join(dirname(agents), path)))].sort();
}
