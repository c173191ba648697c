import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe } from 'vitest';

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
  describe.skip(`${title} (skipped: the test data ${path} is not beside this clone)`, body);
}
