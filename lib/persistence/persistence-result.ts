import { asPersistenceError, type PersistenceError } from './persistence-error.ts';

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
