import { keyMaxBytes } from '../defaults.ts';
import { InvalidInputError } from '../memory/memory-error.ts';

/** Session ids, identities and keys of memory: any text that UTF-8 can carry, kept exactly, up to 512 bytes. */
export function checkName(field: string, value: unknown): string {
  if (typeof value !== 'string' || value === '')
    throw new InvalidInputError(field, 'must be a non-empty string');
  if (!value.isWellFormed())
    throw new InvalidInputError(field, 'holds half of a surrogate pair, which UTF-8 cannot carry');
  const bytes = Buffer.byteLength(value);
  if (bytes > keyMaxBytes)
    throw new InvalidInputError(field, `is ${bytes} bytes, the limit is ${keyMaxBytes}`);
  return value;
}
