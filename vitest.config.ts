import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

/** Loaded once in a process, and warm from the second file on: half the time. A file puts back what it changes of the process. */
const project = (name: string, include: string[]) => ({
  extends: true as const,
  test: { ...{ name, include, isolate: false }, setupFiles: 'test/support/byte-equality.ts' },
});

export default defineConfig({
  resolve: { alias: { dormouse: new URL('./lib/index.ts', import.meta.url).pathname } },
  test: {
    // Which Node.js the SDK supports next says nothing about a test.
    env: { AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED: 'true' },
    // More than cores: much of a test is waiting for servers of its own.
    maxWorkers: Math.ceil(availableParallelism() * 1.5),
    testTimeout: 30_000,
    projects: [
      project('library', [
        'test/{lib,contracts,e2e,linearizability}/**/*.test.ts',
        'test/infra/{*,rehearsal/*}.test.ts',
      ]),
      // Apart from those that start local servers in their process, which keep its log, settings and clients.
      project('functions', ['test/functions/**/*.test.ts']),
      project('local', ['test/infra/local/**/*.test.ts']),
    ],
  },
});
