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

/** An argument is not what it must be. `field` names it, as a path for a nested one (`messages[2].timestamp`). */
export class InvalidInputError extends DormouseError {
  readonly code = 'invalid_input';
  readonly field: string;

  constructor(field: string, problem: string, options?: { cause?: unknown }) {
    // A problem that begins with its field is a sentence already.
    super(problem.startsWith(`${field} `) ? problem : `${field}: ${problem}`, options);
    this.field = field;
  }
}

/** The agent's retention policy does not allow the call. Nothing was read or removed. */
export class ForbiddenByPolicyError extends DormouseError {
  readonly code = 'forbidden_by_policy';
  readonly policy: string;

  constructor(policy: string, what: string) {
    super(`the retention policy '${policy}' does not allow ${what}`);
    this.policy = policy;
  }
}

/** Something else is stored under these ids. It stays; whatever else the call held is stored. */
export class IdConflictError extends DormouseError {
  readonly code = 'id_conflict';
  readonly ids: readonly string[];

  constructor(ids: readonly string[]) {
    super(`stored already with other content: ${ids.join(', ')}`);
    this.ids = ids;
  }
}

/** The session is not registered (any more). Nothing was stored. */
export class SessionNotFoundError extends DormouseError {
  readonly code = 'session_not_found';

  constructor(session: string) {
    super(`the session ${JSON.stringify(session)} is not registered`);
  }
}

/** Something of the session was forgotten after what is to be stored was read. Nothing was stored. */
export class ForgottenMeanwhileError extends DormouseError {
  readonly code = 'forgotten_meanwhile';

  constructor() {
    super('something of the session was forgotten meanwhile; nothing was stored');
  }
}

/** The store failed on some records of a call. All others are stored; sending the same call again completes it. */
export class NotStoredError extends UnavailableError {
  readonly ids: readonly string[];

  constructor(ids: readonly string[], cause: unknown) {
    const known = cause instanceof UnavailableError ? cause : undefined;
    super(`not stored: ${ids.join(', ')}`, {
      cause,
      retryable: known?.retryable ?? false,
      throttled: known?.throttled ?? false,
    });
    this.ids = ids;
  }
}
