import { expect } from 'vitest';

const isInUse = Symbol.for('dormouse.test.byteEquality');
const shared = globalThis as { [isInUse]?: boolean };

/** Large enough for it to matter: element by element, a comparison of 900 KB takes seconds. */
const largeBytes = 1024;

/** Compares large bytes of one type as memory; leaves everything else to vitest. */
function byteEquality(one: unknown, other: unknown): boolean | undefined {
  if (!(one instanceof Uint8Array && other instanceof Uint8Array)) return undefined;
  if (one.constructor !== other.constructor || one.length < largeBytes) return undefined;
  return Buffer.compare(one, other) === 0;
}

// Files share a process, and vitest keeps what it was given for as long as the process lives.
if (!shared[isInUse]) expect.addEqualityTesters([byteEquality]);
shared[isInUse] = true;
