import { DormouseError, messageOf } from '../errors.ts';

export type PersistenceErrorCode =
  | 'dump_failed'
  | 'load_failed'
  | 'invalid_key'
  | 'invalid_state'
  | 'invalid_option'
  | 'conflict'
  | 'too_large'
  | 'corrupt'
  | 'unavailable';

/** Why a hibernate, thaw or forget did not happen. None of them ever means "nothing is stored". */
export abstract class PersistenceError extends DormouseError {
  abstract override readonly code: PersistenceErrorCode;
}

/** The agent's `dump` callback threw, rejected, or returned what cannot be stored. */
export class DumpFailedError extends PersistenceError {
  readonly code = 'dump_failed';
}

/** The agent's `load` callback threw or rejected. The snapshot is untouched. */
export class LoadFailedError extends PersistenceError {
  readonly code = 'load_failed';
}

/** The agent name or instance key is empty, too long, or not representable. */
export class InvalidKeyError extends PersistenceError {
  readonly code = 'invalid_key';
}

/** The state cannot be stored as it is; `path` points at the value (`$.tools[2].run`). */
export class InvalidStateError extends PersistenceError {
  readonly code = 'invalid_state';
  readonly path: string | undefined;

  constructor(message: string, options?: { cause?: unknown; path?: string }) {
    super(message, options);
    this.path = options?.path;
  }
}

/** An option of the call is out of its range. */
export class InvalidOptionError extends PersistenceError {
  readonly code = 'invalid_option';
}

/** A precondition did not hold: somebody else saved first. `currentEtag` is unset where nothing is stored. */
export class ConflictError extends PersistenceError {
  readonly code = 'conflict';
  readonly currentEtag: string | undefined;

  constructor(currentEtag: string | undefined, options?: { cause?: unknown }) {
    super(
      currentEtag === undefined
        ? 'the precondition failed: nothing is stored under this key'
        : 'the precondition failed: the stored snapshot is another one',
      options,
    );
    this.currentEtag = currentEtag;
  }
}

/** The state is larger than can be stored or answered. In bytes; `size` is unset where counting stopped at the limit. */
export class TooLargeError extends PersistenceError {
  readonly code = 'too_large';
  readonly size: number | undefined;
  readonly limit: number;

  constructor(size: number | undefined, limit: number) {
    super(`the state is ${size ?? `more than ${limit}`} bytes, the limit is ${limit}`);
    this.size = size;
    this.limit = limit;
  }
}

/** Something is stored, but it is not what was written: never to be taken for "nothing is stored". */
export class CorruptError extends PersistenceError {
  readonly code = 'corrupt';
}

/** The store did not answer, refused, or is busy. `throttled`: it asked to be called less often. */
export class UnavailableError extends PersistenceError {
  readonly code = 'unavailable';
  override readonly retryable: boolean;
  readonly throttled: boolean;

  constructor(message: string, options?: { cause?: unknown; retryable?: boolean; throttled?: boolean }) {
    super(message, options);
    this.retryable = options?.retryable ?? true;
    this.throttled = options?.throttled ?? false;
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
