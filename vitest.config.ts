import { defineConfig } from 'vitest/config';

export default defineConfig({
  resolve: { alias: { dormouse: new URL('./lib/index.ts', import.meta.url).pathname } },
  test: { include: ['test/**/*.test.ts'], testTimeout: 30_000 },
});
