import { mergeConfig } from 'vitest/config';
import base from './vitest.config.ts';

/** The quick tests of the library: what `npm run check:mutants` runs over each mutant. */
const { projects: _all, ...test } = base.test ?? {};

export default mergeConfig(
  { ...base, test },
  {
    test: {
      isolate: false,
      setupFiles: ['test/support/byte-equality.ts', 'test/support/fixed-seed.ts'],
      include: [
        'test/lib/{persistence,dynamodb,runs,memory,lifecycle,sessions,runtime,in-memory}/**/*.test.ts',
        'test/contracts/*.test.ts',
      ],
      // These start processes, or try thousands of histories: minutes for each mutant, and the others notice the same.
      exclude: ['**/*crash.test.ts', '**/model.test.ts'],
    },
  },
);
