import {
  DormouseError,
  DumpFailedError,
  InvalidStateError,
  LoadFailedError,
  type PersistenceError,
  UnavailableError,
} from '../lib/errors.ts';

/**
 * What a log line says of an error: its code, which alarms look for, and where it arose. Messages may quote a state, a
 * key or a name, and are told to callers: the log has only those that are known to quote nothing.
 */
export function loggable(error: unknown): Record<string, unknown> {
  const code = codeOf(error);
  if (mayQuoteState(error)) {
    return {
      code,
      detail: calledBack(error),
      thrown: error.cause instanceof Error ? safeName(error.cause) : typeof error.cause,
      at: framesOf(error.cause),
    };
  }
  const chain: unknown[] = [];
  for (let link = error; link instanceof Error && chain.length < 5; link = link.cause) {
    // A minifier renames our classes; their codes stay.
    const name = link instanceof DormouseError ? link.code : safeName(link);
    chain.push({ name, message: safeMessage(link, link === error), at: framesOf(link) });
  }
  // What is no error says nothing that is known to quote nothing.
  if (chain.length === 0) return { code, thrown: typeof error };
  return { code, error: chain };
}

/** What a log line says of what an action threw: where it arose. Its message may quote a memory or a state. */
export function loggableThrown(thrown: unknown): Record<string, unknown> {
  try {
    return { thrown: thrown instanceof Error ? safeName(thrown) : typeof thrown, at: framesOf(thrown) };
  } catch {
    // A Proxy, or a getter, that throws itself.
    return { thrown: typeof thrown, at: [] };
  }
}

/**
 * What is answered in place of what a callback or a schema says, which may quote the state. Undefined for any other
 * error. The path has names of the state, which are the caller's own.
 */
export function unquotedDetail(error: unknown): string | undefined {
  const detail = calledBack(error);
  return error instanceof InvalidStateError && error.path ? `${detail} at ${error.path}` : detail;
}

function calledBack(error: unknown): string | undefined {
  if (error instanceof DumpFailedError)
    return "the agent's dump callback threw, rejected or returned nothing";
  if (error instanceof LoadFailedError)
    return "the agent's load callback threw, rejected or returned nothing";
  return error instanceof InvalidStateError ? 'the state was refused' : undefined;
}

function codeOf(error: unknown): string {
  if (error instanceof UnavailableError && error.throttled) return 'throttled';
  return error instanceof DormouseError ? error.code : 'internal';
}

function mayQuoteState(error: unknown): error is PersistenceError {
  return unquotedDetail(error) !== undefined;
}

/** Codes whose messages are made of fixed words and numbers, or name what the deployer has written. */
const sayNoNames = new Set(['unavailable', 'conflict', 'too_large', 'corrupt', 'shard_taken']);
const areOfTheDeployer = new Set(['invalid_definition', 'invalid_schedule', 'error_log_unavailable']);

function safeMessage(error: Error, isOutermost: boolean): string | undefined {
  if (error instanceof DormouseError) {
    // One that lists ids is of a safe code, too.
    const isSafe = (sayNoNames.has(error.code) && !('ids' in error)) || areOfTheDeployer.has(error.code);
    return isSafe ? error.message : undefined;
  }
  // Those of AWS, of the system and of zlib say what failed. A parser quotes its text, a TypeError names properties.
  const isOfService = '$metadata' in error || 'syscall' in error || String(codeIn(error)).startsWith('Z_');
  // What nobody expected is a defect, and of our own code; a cause may be of anybody's, and was judged above.
  return isOfService || (isOutermost && error.name === 'Error') ? error.message : undefined;
}

function codeIn(error: Error): unknown {
  return (error as NodeJS.ErrnoException).code;
}

/** A name is the class's, unless somebody has set it to any text. */
function safeName({ name }: Error): string {
  return /^[A-Za-z]\w{0,63}$/.test(name) ? name : 'Error';
}

/** The message comes first in a stack, and may have lines that look like frames. */
function framesOf(error: unknown): string[] {
  if (!(error instanceof Error)) return [];
  const stack = String(error.stack ?? '');
  const messageAt = stack.indexOf(error.message);
  const frames = messageAt < 0 ? '' : stack.slice(messageAt + error.message.length);
  return frames
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => /^at .*:\d+:\d+\)?$/.test(line))
    .slice(0, 10);
}
