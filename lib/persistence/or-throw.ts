import type { PersistenceFailure } from './persistence-result.ts';

/**
 * The result of a call, or its error thrown where it has one: for those who would forget to look. `not_found` is no error.
 *
 * @throws PersistenceError the result's own
 * @example
 * const { etag } = orThrow(await hibernate({ store }, 'support', 'user-123', state));
 */
export function orThrow<Result extends { readonly status: string }>(
  result: Result,
): Exclude<Result, PersistenceFailure> {
  if (result.status === 'error') throw (result as unknown as PersistenceFailure).error;
  return result as Exclude<Result, PersistenceFailure>;
}
