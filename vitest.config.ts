import { defineConfig } from 'vitest/config';

export default defineConfig({
  resolve: { alias: { dormouse: new URL('./lib/index.ts', import.meta.url).pathname } },
  test: {
    // Which Node.js the SDK supports next says nothing about a test.
    env: { AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED: 'true' },
    include: ['test/**/*.test.ts'],
    // A process for each core: much of a test is waiting for servers of its own.
    maxWorkers: '100%',
    testTimeout: 30_000,
  },
});
