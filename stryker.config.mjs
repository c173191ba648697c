/** Mutation testing of what keeps the data: `npm run check:mutants`, or with `-- --mutate 'lib/runs/*.ts'` one folder of it. */
export default {
  testRunner: 'vitest',
  plugins: ['@stryker-mutator/vitest-runner'],
  vitest: { configFile: 'vitest.mutants.config.ts', related: false },
  mutate: ['lib/{persistence,dynamodb,runs,memory,in-memory}/**/*.ts'],
  // TypeScript 7 has no compiler API to rewrite a tsconfig.json with; nothing here needs one. A file that is not there is left alone.
  tsconfigFile: 'no-tsconfig.json',
  disableTypeChecks: false,
  // Only the tests that reach a mutant are run over it.
  coverageAnalysis: 'perTest',
  // What is evaluated once, as a module is loaded, would have to be loaded anew for each mutant.
  ignoreStatic: true,
  // The texts of messages are for people; codes, which tests look at, are types as well.
  mutator: { excludedMutations: ['StringLiteral'] },
  concurrency: 2,
  // Most of what runs into it is a loop that no longer ends.
  timeoutMS: 3_000,
  reporters: ['clear-text', 'progress-append-only', 'json'],
  clearTextReporter: { allowColor: false, logTests: false, reportTests: false },
  jsonReporter: { fileName: '.stryker/report.json' },
  incremental: true,
  incrementalFile: '.stryker/incremental.json',
  tempDirName: '.stryker/sandbox',
  ignorePatterns: ['/docs', '/cdk.out', '/.dormouse', '/.rehearsal', '/dist'],
  allowConsoleColors: false,
};
