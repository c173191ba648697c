import { PersistenceError, UnavailableError } from '../errors.ts';
import { messageOf } from '../message-of.ts';

/** What did not happen, and why. */
export interface PersistenceFailure {
  readonly status: 'error';
  readonly error: PersistenceError;
}

/** Turns what is expected to fail into a result. */
export async function attempt<Ok>(work: () => Promise<Ok>): Promise<Ok | PersistenceFailure> {
  try {
    return await work();
  } catch (thrown) {
    return { status: 'error', error: asPersistenceError(thrown) };
  }
}

const causeMaxChars = 300;

/** A custom store may reject with anything: what is not ours is `unavailable`, never "not found". */
export function asPersistenceError(thrown: unknown): PersistenceError {
  if (thrown instanceof PersistenceError) return thrown;
  const { name } = thrown instanceof Error ? thrown : { name: 'thrown' };
  const why = `${name}: ${messageOf(thrown)}`.slice(0, causeMaxChars);
  return new UnavailableError(`the store failed (${why})`, { cause: thrown, retryable: false });
}
