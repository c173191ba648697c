import { DormouseError } from '../../lib/errors.ts';
import {
  ConflictError,
  DumpFailedError,
  InvalidStateError,
  LoadFailedError,
  type PersistenceError,
  TooLargeError,
  UnavailableError,
} from '../../lib/persistence/persistence-error.ts';
import { type ErrorCode, HttpError, problems } from './http-error.ts';
import { type HttpResponse, quoteEtag } from './response.ts';

const retryAfterSecs = 1;

/** An error as `application/problem+json` (RFC 9457). What is not one of ours is `internal`, without detail. */
export function problemResponse(error: unknown, requestId: string): HttpResponse {
  const code = codeOf(error);
  const { status, title } = problems[code];
  const problem = {
    type: `urn:dormouse:problem:${code}`,
    title,
    status,
    detail: detailOf(error),
    code,
    requestId,
    ...(error instanceof TooLargeError && { size: error.size, limit: error.limit }),
  };
  return {
    status,
    headers: { 'content-type': 'application/problem+json', 'cache-control': 'no-store', ...headersOf(error) },
    body: JSON.stringify(problem),
  };
}

function codeOf(error: unknown): ErrorCode {
  if (error instanceof UnavailableError && error.throttled) return 'throttled';
  // One of ours whose code has no status is not meant for callers.
  const isKnown = error instanceof DormouseError && Object.hasOwn(problems, error.code);
  return isKnown ? (error.code as ErrorCode) : 'internal';
}

/** What a callback or a schema says may quote the state: it stays out of answers and logs. */
function detailOf(error: unknown): string {
  if (error instanceof DumpFailedError)
    return "the agent's dump callback threw, rejected or returned nothing";
  if (error instanceof LoadFailedError)
    return "the agent's load callback threw, rejected or returned nothing";
  if (error instanceof InvalidStateError)
    return `the state was refused${error.path ? ` at ${error.path}` : ''}`;
  return error instanceof DormouseError && codeOf(error) !== 'internal'
    ? error.message
    : 'an unexpected error; the log has it under the requestId';
}

function mayQuoteState(error: unknown): error is PersistenceError {
  return [DumpFailedError, LoadFailedError, InvalidStateError].some((type) => error instanceof type);
}

function headersOf(error: unknown): Readonly<Record<string, string>> {
  if (error instanceof HttpError) return error.headers;
  if (error instanceof ConflictError && error.currentEtag !== undefined)
    return { etag: quoteEtag(error.currentEtag) };
  if (error instanceof UnavailableError) return { 'retry-after': String(retryAfterSecs) };
  return {};
}

/** What a log line says of an error: never a message that may quote a state. */
export function loggable(error: unknown): Record<string, unknown> {
  const code = codeOf(error);
  if (mayQuoteState(error)) {
    return {
      code,
      detail: detailOf(error),
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
  return { code, error: chain };
}

/** Ids of sessions and messages may name people, as keys do: callers are told them, the log is not. */
function namesIds(error: Error): boolean {
  return error instanceof DormouseError && (error.code === 'session_not_found' || 'ids' in error);
}

function framesOf(error: unknown): string[] {
  if (!(error instanceof Error)) return [];
  const lines = (error.stack ?? '').split('\n').map((line) => line.trim());
  return lines.filter((line) => line.startsWith('at ')).slice(0, 10);
}
