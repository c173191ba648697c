import { errorMessageMaxChars, errorStackMaxChars } from '../defaults.ts';
import type { LoggedError, NewError } from './error-log.ts';

/**
 * An error's id sorts as the log does, by arrival: its stamp, then its number among the errors of its writer. A stamp is
 * the time of whichever writer is furthest ahead, in milliseconds: one whose clock is right again must not sort its
 * errors below those that came before.
 */
export function errorId(stamp: number, sequence: number, unique: string): string {
  return `${String(Math.max(0, stamp)).padStart(15, '0')}.${String(sequence).padStart(9, '0')}.${unique}`;
}

/** The stamp in an id. */
export function stampOf(id: string): number {
  return Number(id.slice(0, id.indexOf('.')));
}

/** The entry as it is kept: long texts are cut, so that any failure fits, however it came to be. */
export function errorEntry(id: string, ts: Date, error: NewError): LoggedError {
  const { where, msg, stack, sessionId, runId } = error;
  return {
    id,
    where: cut(where, errorMessageMaxChars),
    msg: cut(msg, errorMessageMaxChars),
    ts,
    ...(stack !== undefined && { stack: cut(stack, errorStackMaxChars) }),
    ...(sessionId !== undefined && { sessionId }),
    ...(runId !== undefined && { runId }),
  };
}

function cut(text: string, maxChars: number): string {
  return text.length <= maxChars ? text.toWellFormed() : `${text.slice(0, maxChars - 1).toWellFormed()}…`;
}
