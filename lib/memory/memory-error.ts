import { DormouseError } from '../errors.ts';
import { UnavailableError } from '../persistence/persistence-error.ts';

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
