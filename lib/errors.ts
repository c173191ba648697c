/**
 * The base of every error that Dormouse makes itself. `code` is stable and meant to be branched on;
 * `retryable` says whether the same call may succeed later without being changed.
 */
export abstract class DormouseError extends Error {
  abstract readonly code: string;
  readonly retryable: boolean = false;

  constructor(message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = new.target.name;
  }
}

/** What a caught value says, whatever was thrown: an `Error`, a string, `undefined`. */
export function messageOf(thrown: unknown): string {
  if (thrown instanceof Error) return thrown.message;
  return typeof thrown === 'string' ? thrown : `a thrown ${thrown === null ? 'null' : typeof thrown}`;
}
