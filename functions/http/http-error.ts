import type {
  ForbiddenByPolicyError,
  IdConflictError,
  InvalidInputError,
  PersistenceErrorCode,
  SessionNotFoundError,
} from '../../lib/errors.ts';
import { DormouseError } from '../../lib/errors.ts';
import type { EmptySummaryError } from '../../lib/lifecycle/compact-memory.ts';
import type { RunNotFoundError, TooManyRunsError, UnknownActionError } from '../../lib/runs/run-error.ts';

type RequestErrorCode =
  | 'invalid_request'
  | 'invalid_json'
  | 'invalid_cursor'
  | 'not_found'
  | 'unknown_agent'
  | 'forbidden'
  | 'method_not_allowed'
  | 'not_acceptable'
  | 'too_large'
  | 'unsupported_media_type'
  | 'unsupported_encoding'
  | 'throttled'
  | 'overtaken'
  | 'internal';

type MemoryErrorCode =
  | InvalidInputError['code']
  | ForbiddenByPolicyError['code']
  | IdConflictError['code']
  | EmptySummaryError['code']
  | SessionNotFoundError['code'];

type RunErrorCode = UnknownActionError['code'] | RunNotFoundError['code'] | TooManyRunsError['code'];

/** Stable: callers branch on it. Listed in the OpenAPI document. */
export type ErrorCode = PersistenceErrorCode | MemoryErrorCode | RunErrorCode | RequestErrorCode;

/** One line each: the status that a code is answered with, and what it means whatever the request. */
export const problems = {
  invalid_request: { status: 400, title: 'The request is malformed' },
  invalid_json: { status: 400, title: 'The body is not JSON' },
  invalid_cursor: { status: 400, title: 'The cursor is not one of this list' },
  invalid_key: { status: 400, title: 'The agent name or key is not valid' },
  invalid_option: { status: 400, title: 'A parameter is out of its range' },
  invalid_input: { status: 400, title: 'A field is not what it must be' },
  empty_summary: { status: 400, title: 'The summary is empty' },
  unknown_action: { status: 400, title: 'The agent has no such action' },
  forbidden_by_policy: { status: 403, title: 'The retention policy does not allow it' },
  forbidden: { status: 403, title: 'The caller may not do this' },
  not_found: { status: 404, title: 'Not found' },
  session_not_found: { status: 404, title: 'The session is not registered' },
  run_not_found: { status: 404, title: 'There is no such run' },
  unknown_agent: { status: 404, title: 'No such agent is defined' },
  method_not_allowed: { status: 405, title: 'The resource does not have this method' },
  not_acceptable: { status: 406, title: 'What is stored is not of a type that the request accepts' },
  id_conflict: { status: 409, title: 'Another content is stored under this id' },
  overtaken: { status: 409, title: 'What was summarised has changed meanwhile' },
  conflict: { status: 412, title: 'The precondition failed' },
  too_large: { status: 413, title: 'The content is too large' },
  unsupported_media_type: { status: 415, title: 'Only JSON is taken here' },
  unsupported_encoding: { status: 415, title: 'The content encoding is not supported' },
  invalid_state: { status: 422, title: 'The state was refused' },
  dump_failed: { status: 422, title: 'The agent refused to dump the state' },
  too_many_runs: { status: 429, title: 'Too many runs of the agent are under way' },
  throttled: { status: 429, title: 'The store asks for fewer requests' },
  load_failed: { status: 500, title: 'The agent failed to load its snapshot' },
  corrupt: { status: 500, title: 'What is stored is damaged' },
  internal: { status: 500, title: 'Something went wrong' },
  unavailable: { status: 503, title: 'The store is not available' },
} as const satisfies Record<ErrorCode, { status: number; title: string }>;

/** An answer other than success that a handler decides on itself. */
export class HttpError extends DormouseError {
  readonly code: RequestErrorCode;
  readonly headers: Readonly<Record<string, string>>;
  /** What was exceeded, in whatever the message counts. */
  readonly limit: number | undefined;

  constructor(
    code: RequestErrorCode,
    message: string,
    options: { cause?: unknown; headers?: Readonly<Record<string, string>>; limit?: number } = {},
  ) {
    super(message, options);
    this.code = code;
    this.headers = options.headers ?? {};
    this.limit = options.limit;
  }
}
