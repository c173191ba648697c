import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, test } from 'vitest';

const shared = new URL('../../../shared/', import.meta.url);

/** A file of the data that lies beside the project and is not part of it. */
export function sharedPath(path: string): string {
  return fileURLToPath(new URL(path, shared));
}

/** Runs where that data lies; is skipped, and says so, in a plain clone; fails in CI, where it must be there. */
export function describeWithShared(path: string, title: string, body: () => void): void {
  if (existsSync(sharedPath(path))) {
    describe(title, body);
    return;
  }
  if (process.env.CI) throw new Error(`the test data ${path} is missing beside the project`);
  // Not the body: it may read the data already while its tests are collected.
  describe.skip(title, () => test(`needs the test data ${path}, which is not beside this clone`, () => {}));
}
