import { DormouseError } from '../errors.ts';
import { inOneCall } from './call-budget.ts';
import { translateError } from './translate-error.ts';

/** Whatever the SDK, the network or a credential provider throws becomes an `UnavailableError`. */
export async function translated<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw error instanceof DormouseError ? error : translateError(error);
  }
}

/** Does the work as one call, within its limits, and translates what it throws. */
export async function translatedCall<T>(work: () => Promise<T>): Promise<T> {
  return translated(() => inOneCall(work));
}
