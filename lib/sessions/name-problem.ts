import { keyMaxBytes } from '../defaults.ts';

/** Why it is no name: any text that UTF-8 can carry, up to 512 bytes, is one. Undefined where it is. */
export function nameProblem(value: unknown): string | undefined {
  if (typeof value !== 'string' || value === '') return 'must be a non-empty string';
  if (!value.isWellFormed()) return 'holds half of a surrogate pair, which UTF-8 cannot carry';
  const bytes = Buffer.byteLength(value);
  return bytes > keyMaxBytes ? `is ${bytes} bytes, the limit is ${keyMaxBytes}` : undefined;
}
