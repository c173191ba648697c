import { DormouseError } from '../../lib/errors.ts';
import {
  ConflictError,
  DumpFailedError,
  LoadFailedError,
  PersistenceError,
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
  if (error instanceof PersistenceError || error instanceof HttpError) return error.code;
  return 'internal';
}

/** What a callback threw may quote the state: it stays out of answers and logs. */
function detailOf(error: unknown): string {
  if (error instanceof DumpFailedError)
    return "the agent's dump callback threw, rejected or returned nothing";
  if (error instanceof LoadFailedError)
    return "the agent's load callback threw, rejected or returned nothing";
  return error instanceof DormouseError
    ? error.message
    : 'an unexpected error; the log has it under the requestId';
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
  if (error instanceof DumpFailedError || error instanceof LoadFailedError) {
    return {
      code,
      thrown: error.cause instanceof Error ? error.cause.name : typeof error.cause,
      at: framesOf(error.cause),
    };
  }
  const chain: unknown[] = [];
  for (let link = error; link instanceof Error && chain.length < 5; link = link.cause) {
    // A minifier renames our classes; their codes stay.
    const name = link instanceof DormouseError ? link.code : link.name;
    chain.push({ name, message: link.message, at: framesOf(link) });
  }
  return { code, error: chain };
}

function framesOf(error: unknown): string[] {
  if (!(error instanceof Error)) return [];
  const lines = (error.stack ?? '').split('\n').map((line) => line.trim());
  return lines.filter((line) => line.startsWith('at ')).slice(0, 10);
}
