import { errorMessageMaxChars, errorStackMaxChars } from '../defaults.ts';
import type { LoggedError, NewError } from './error-log.ts';

/** An error's id sorts as the log does: its time, then its number among the errors of its writer. */
export function errorId(at: Date, sequence: number, unique: string): string {
  return `${String(at.getTime()).padStart(15, '0')}.${String(sequence).padStart(9, '0')}.${unique}`;
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
