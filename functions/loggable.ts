import { DormouseError } from '../lib/errors.ts';
import {
  DumpFailedError,
  InvalidStateError,
  LoadFailedError,
  type PersistenceError,
  UnavailableError,
} from '../lib/persistence/persistence-error.ts';

/** What a log line says of an error: never a message that may quote a state. `code` is what alarms look for. */
export function loggable(error: unknown): Record<string, unknown> {
  const code = codeOf(error);
  if (mayQuoteState(error)) {
    return {
      code,
      detail: unquotedDetail(error),
      thrown: error.cause instanceof Error ? error.cause.name : typeof error.cause,
      at: framesOf(error.cause),
    };
  }
  const chain: unknown[] = [];
  for (let link = error; link instanceof Error && chain.length < 5; link = link.cause) {
    // A minifier renames our classes; their codes stay.
    const name = link instanceof DormouseError ? link.code : link.name;
    chain.push({ name, message: namesIds(link) ? undefined : link.message, at: framesOf(link) });
  }
  // What is no error says nothing that is known to quote nothing.
  if (chain.length === 0) return { code, thrown: typeof error };
  return { code, error: chain };
}

/** What a callback or a schema says may quote the state: this is said in its place. Undefined for any other error. */
export function unquotedDetail(error: unknown): string | undefined {
  if (error instanceof DumpFailedError)
    return "the agent's dump callback threw, rejected or returned nothing";
  if (error instanceof LoadFailedError)
    return "the agent's load callback threw, rejected or returned nothing";
  if (error instanceof InvalidStateError)
    return `the state was refused${error.path ? ` at ${error.path}` : ''}`;
  return undefined;
}

function codeOf(error: unknown): string {
  if (error instanceof UnavailableError && error.throttled) return 'throttled';
  return error instanceof DormouseError ? error.code : 'internal';
}

function mayQuoteState(error: unknown): error is PersistenceError {
  return unquotedDetail(error) !== undefined;
}

/**
 * Ids of sessions and messages may name people, as keys do: callers are told them, the log is not. What was asked for as
 * a run's id may be any text.
 */
function namesIds(error: Error): boolean {
  if (!(error instanceof DormouseError)) return false;
  return error.code === 'session_not_found' || error.code === 'run_not_found' || 'ids' in error;
}

function framesOf(error: unknown): string[] {
  if (!(error instanceof Error)) return [];
  const lines = (error.stack ?? '').split('\n').map((line) => line.trim());
  return lines.filter((line) => line.startsWith('at ')).slice(0, 10);
}
