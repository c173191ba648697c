import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

export default defineConfig({
  resolve: { alias: { dormouse: new URL('./lib/index.ts', import.meta.url).pathname } },
  test: {
    // Which Node.js the SDK supports next says nothing about a test.
    env: { AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED: 'true' },
    // More than cores: much of a test is waiting for servers of its own.
    maxWorkers: Math.ceil(availableParallelism() * 1.5),
    testTimeout: 30_000,
    projects: [
      // Loaded once in a process, and warm from the second file on: half the time. A file puts back what it changes of the process.
      {
        extends: true,
        test: {
          ...{ name: 'library', isolate: false, setupFiles: 'test/support/byte-equality.ts' },
          include: [
            'test/{lib,contracts,e2e,linearizability}/**/*.test.ts',
            'test/infra/*.test.ts',
            'test/infra/rehearsal/*.test.ts',
          ],
        },
      },
      // The functions and the local server keep their log, settings and clients once they are loaded: each file has a thread.
      {
        extends: true,
        test: {
          ...{
            name: 'functions',
            pool: 'threads',
            isolate: true,
            setupFiles: 'test/support/byte-equality.ts',
          },
          include: ['test/{functions,infra/local}/**/*.test.ts'],
        },
      },
    ],
  },
});
