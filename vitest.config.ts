import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

const setupFiles = 'test/support/byte-equality.ts';

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
          ...{ name: 'library', isolate: false, setupFiles },
          include: [
            'test/{lib,contracts,e2e,linearizability}/**/*.test.ts',
            'test/infra/*.test.ts',
            'test/infra/rehearsal/*.test.ts',
          ],
        },
      },
      // Apart from the library's, whose local servers have their log, settings and clients in the process.
      {
        extends: true,
        test: {
          ...{ name: 'functions', isolate: false, setupFiles },
          include: ['test/functions/**/*.test.ts'],
        },
      },
      // A local server keeps its log, settings and clients once they are loaded: each file has a thread.
      {
        extends: true,
        test: {
          ...{ name: 'local', pool: 'threads', isolate: true, setupFiles },
          include: ['test/infra/local/**/*.test.ts'],
        },
      },
    ],
  },
});
