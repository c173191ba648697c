import { ConflictError, DormouseError, TooLargeError, UnavailableError } from '../../lib/errors.ts';
import { unquotedDetail } from '../loggable.ts';
import { type ErrorCode, HttpError, problems } from './http-error.ts';
import { type HttpResponse, quoteEtag } from './response.ts';

const retryAfterSecs = 1;
const runRetryAfterSecs = 30;

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
    ...(error instanceof HttpError && { limit: error.limit }),
  };
  return {
    status,
    headers: { 'content-type': 'application/problem+json', ...headersOf(error) },
    body: JSON.stringify(problem),
  };
}

function codeOf(error: unknown): ErrorCode {
  if (error instanceof UnavailableError && error.throttled) return 'throttled';
  // One of ours whose code has no status is not meant for callers.
  const isKnown = error instanceof DormouseError && Object.hasOwn(problems, error.code);
  return isKnown ? (error.code as ErrorCode) : 'internal';
}

function detailOf(error: unknown): string {
  const unquoted = unquotedDetail(error);
  if (unquoted !== undefined) return unquoted;
  // Addresses and settings are for the log, not for callers.
  if (error instanceof UnavailableError && error.cause !== undefined) {
    return error.throttled
      ? 'too many requests: try again later'
      : 'what this service depends on did not answer: try again later; the log has it under the requestId';
  }
  return error instanceof DormouseError && codeOf(error) !== 'internal'
    ? error.message
    : 'an unexpected error; the log has it under the requestId';
}

function headersOf(error: unknown): Readonly<Record<string, string>> {
  if (error instanceof HttpError) return error.headers;
  if (error instanceof ConflictError && error.currentEtag !== undefined)
    return { etag: quoteEtag(error.currentEtag) };
  if (error instanceof UnavailableError) return { 'retry-after': String(retryAfterSecs) };
  // No run is over within a second.
  if (codeOf(error) === 'too_many_runs') return { 'retry-after': String(runRetryAfterSecs) };
  return {};
}
