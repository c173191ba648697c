import { DormouseError, messageOf } from '../errors.ts';
import type { JobError } from './lifecycle-job.ts';

/** What a handler returns or throws to say that its session's job did not succeed. Made by `failed` and `cancelled`. */
export class JobOutcomeError extends DormouseError {
  readonly code: 'failed' | 'cancelled';

  constructor(code: 'failed' | 'cancelled', reason: string) {
    super(reason);
    this.code = code;
  }
}

/** The handler did not settle within its session's time. What it still does has no effect on its job. */
export class JobTimeoutError extends DormouseError {
  readonly code = 'timed_out';

  constructor(limitMs: number) {
    super(`the handler took longer than ${limitMs / 1000} s`);
  }
}

/**
 * Ends a session's job as failed. Returned or thrown.
 *
 * @example
 * const digest = async (session) => (await send(session)) ? 'sent' : failed('nobody listens');
 */
export function failed(reason: string): JobOutcomeError {
  return new JobOutcomeError('failed', reason);
}

/**
 * Ends a session's job as called off: not ok, and told apart from a failure in its `error` and in the log.
 *
 * @example
 * const digest = async (session) => (session.meta.paused ? cancelled('paused by its user') : send(session));
 */
export function cancelled(reason: string): JobOutcomeError {
  return new JobOutcomeError('cancelled', reason);
}

/** The error in what a handler returned: an `Error`, or a result such as `hibernate` gives. Undefined for any other value. */
export function errorIn(returned: unknown): unknown {
  if (returned instanceof Error) return returned;
  if (typeof returned !== 'object' || returned === null) return undefined;
  if (!('status' in returned) || returned.status !== 'error') return undefined;
  // A result that names no error is one all the same.
  return 'error' in returned && returned.error !== undefined ? returned.error : returned;
}

/** Whatever was thrown, as a job's error. */
export function jobErrorOf(thrown: unknown): JobError {
  try {
    // An error may carry anything as its message.
    return { kind: kindOf(thrown), reason: String(messageOf(thrown)) };
  } catch {
    return { kind: 'thrown', reason: 'an error that cannot be read' };
  }
}

function kindOf(thrown: unknown): JobError['kind'] {
  if (thrown instanceof JobOutcomeError) return thrown.code;
  return thrown instanceof JobTimeoutError ? 'timed_out' : 'thrown';
}

/** Node makes the stack when it is first read, of whatever the error carries by then. */
export function stackOf(thrown: unknown): string | undefined {
  try {
    return thrown instanceof Error && typeof thrown.stack === 'string' ? thrown.stack : undefined;
  } catch {
    return undefined;
  }
}
