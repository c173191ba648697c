import { DormouseError } from '../errors.ts';
import { inOneCall } from './call-budget.ts';
import { translateError } from './translate-error.ts';

/** Does the work as one call, within its limits; whatever the SDK, the network or a credential provider throws becomes an `UnavailableError`. */
export async function translated<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await inOneCall(work);
  } catch (error) {
    throw error instanceof DormouseError ? error : translateError(error);
  }
}
