import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { expect, test } from 'vitest';

test('a function whose agents only use defineAgent is not bundled with what reads and describes schedules', async () => {
  const bundle = await build({
    stdin: {
      contents: `import { defineAgent, scheduleDescriptor } from './lib/index.ts';
        export default [defineAgent({ name: 'a', schedules: [scheduleDescriptor('s', '@daily', 'prune-raw-memory')] })];`,
      resolveDir: fileURLToPath(new URL('../../', import.meta.url)),
    },
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    write: false,
    metafile: true,
    logLevel: 'silent',
  });

  const [output] = Object.values(bundle.metafile.outputs);
  const bundled = Object.keys(output?.inputs ?? {});

  expect(bundled).toContain('lib/schedules/unix-cron.ts');
  // The one finds the field that a misspelled one was meant to be.
  expect(bundled.filter((input) => input.includes('node_modules'))).toEqual([
    'node_modules/fastest-levenshtein/mod.js',
  ]);
});
