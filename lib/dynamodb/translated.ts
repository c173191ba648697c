import { DormouseError } from '../errors.ts';
import { translateError } from './translate-error.ts';

/** Does the work; whatever the SDK, the network or a credential provider throws becomes an `UnavailableError`. */
export async function translated<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw error instanceof DormouseError ? error : translateError(error);
  }
}
