import { DormouseError } from '../errors.ts';
import { isError, messageOf } from '../message-of.ts';
import type { JobError } from './lifecycle-job.ts';

/** What a handler returns or throws to say that its session's job did not succeed. Made by `failed` and `cancelled`. */
export class JobOutcomeError extends DormouseError {
  readonly code: 'failed' | 'cancelled';

  constructor(code: 'failed' | 'cancelled', reason: string) {
    super(reasonOf(reason));
    this.code = code;
  }
}

/** An error of a database, which is handed on as it came, has its message, and no reason is one too. */
function reasonOf(given: unknown): string {
  const isMissing =
    given === undefined || given === null || (typeof given === 'string' && given.trim() === '');
  return isMissing ? 'no reason was given' : messageOf(given);
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

/**
 * What is wrong with what a handler returned: an `Error`, a result such as `hibernate` gives, or work that nobody has
 * done yet. Undefined for any other value.
 */
export function errorIn(returned: unknown): unknown {
  if (isError(returned)) return returned;
  if (typeof returned === 'function')
    return failed('the handler returned a function, which nobody calls: return what it returns');
  if (typeof returned !== 'object' || returned === null) return undefined;
  if (isUnread(returned))
    return failed('the handler returned an iterator, of which nothing has run: read it to its end');
  if (!('status' in returned) || returned.status !== 'error') return undefined;
  // A result that names no error is one all the same, and may have its message beside it.
  return 'error' in returned && returned.error ? returned.error : returned;
}

/** What a generator returns, or a stream: nothing of it happens until somebody asks for it. */
function isUnread(returned: object): boolean {
  const {
    next,
    [Symbol.iterator]: each,
    [Symbol.asyncIterator]: eachLater,
  } = returned as Partial<AsyncGenerator & Iterator<unknown> & Iterable<unknown>>;
  return typeof eachLater === 'function' || (typeof each === 'function' && typeof next === 'function');
}

/** Whatever was thrown, as a job's error. Never throws. */
export function jobErrorOf(thrown: unknown): JobError {
  return { kind: kindOf(thrown), reason: messageOf(thrown) };
}

function kindOf(thrown: unknown): JobError['kind'] {
  try {
    // What a handler throws is its own to change: anything may be its code by now.
    if (thrown instanceof JobOutcomeError) return thrown.code === 'cancelled' ? 'cancelled' : 'failed';
    return thrown instanceof JobTimeoutError ? 'timed_out' : 'thrown';
  } catch {
    return 'thrown';
  }
}

/** Node makes the stack when it is first read, of whatever the error carries by then. */
export function stackOf(thrown: unknown): string | undefined {
  try {
    return isError(thrown) && typeof thrown.stack === 'string' ? thrown.stack : undefined;
  } catch {
    return undefined;
  }
}
