import { pMapIterable } from 'p-map';
import { sessionConcurrency, sessionTimeoutEndSecs, sessionTimeoutSecs } from '../defaults.ts';
import { DormouseError, InvalidInputError } from '../errors.ts';
import { callbackProblem, checkFields, checkName, fieldsOf } from '../input.ts';
import type { AgentHandles } from '../persistence/agent-handle.ts';
import type { AgentRuntime } from '../runtime/agent-runtime.ts';
import type { Session } from '../sessions/session.ts';
import { errorIn, JobTimeoutError } from './job-outcome.ts';
import { failedJob, jobOk, recordFailure } from './jobs.ts';
import type { LifecycleJob } from './lifecycle-job.ts';
import type { Secrets } from './secrets.ts';
import { SessionContext } from './session-context.ts';
import type { JobLogger, SessionJobHandler, SessionJobOptions } from './session-job.ts';

/** Every session had its turn, but failures could not be written to the error log. `jobs` has them. */
export class ErrorLogUnavailableError extends DormouseError {
  readonly code = 'error_log_unavailable';
  readonly unrecorded: number;
  /** All jobs of the run; empty where they were handed out one by one. */
  readonly jobs: readonly LifecycleJob[];

  constructor(unrecorded: number, cause: unknown, jobs: readonly LifecycleJob[] = []) {
    super(`${unrecorded} failures could not be written to the error log`, { cause });
    this.unrecorded = unrecorded;
    this.jobs = jobs;
  }
}

/**
 * Runs a handler for every registered session and resolves one job each, in the order of the sessions. Several sessions
 * are under way at a time (10), each with a time limit of its own (60 s), after which its `signal` is aborted and the
 * run goes on without it. A handler that throws, rejects, returns an error result or takes too long is a failed job in
 * the error log; nothing of it reaches the others. Only code that never yields the thread cannot be cut off.
 *
 * Rejects when the sessions cannot be read, and `ErrorLogUnavailableError`, at the end, when failures could not be
 * recorded.
 *
 * @example
 * const jobs = await runSessionJob(runtime, 'greet', async (session, { signal }) => greet(session.id, { signal }));
 * const broken = jobs.filter(({ ok }) => !ok);
 */
export async function runSessionJob(
  runtime: AgentRuntime,
  action: string,
  handler: SessionJobHandler,
  options: SessionJobOptions = {},
): Promise<LifecycleJob[]> {
  const jobs: LifecycleJob[] = [];
  try {
    for await (const job of eachSessionJob(runtime, action, handler, options)) jobs.push(job);
    return jobs;
  } catch (error) {
    if (!(error instanceof ErrorLogUnavailableError)) throw error;
    throw new ErrorLogUnavailableError(error.unrecorded, error.cause, jobs);
  }
}

/**
 * As `runSessionJob`, handing out each job as it comes, so that no run is too long to hold.
 *
 * @example
 * for await (const job of eachSessionJob(runtime, 'greet', greet)) console.log(job.sessionId, job.ok);
 */
export async function* eachSessionJob(
  runtime: AgentRuntime,
  action: string,
  handler: SessionJobHandler,
  options: SessionJobOptions = {},
): AsyncGenerator<LifecycleJob, void, undefined> {
  const run = resolve(runtime, action, handler, options);
  const sessions = options.sessions ?? runtime.listRegisteredSessions();
  const unrecorded: unknown[] = [];
  let goesOn = true;
  const jobs = pMapIterable(
    untilAborted(sessions, run.signal),
    async (session) => {
      // Sessions are read ahead: this one may have waited for its turn for as long as others took.
      goesOn &&= !run.signal?.aborted && run.mayBegin();
      if (!goesOn) return undefined;
      // Before the handler has it: a run goes on after the session that its last job names.
      const { id } = session;
      try {
        return jobOk(id, action, await runHandler(run, session));
      } catch (thrown) {
        const { agent } = runtime;
        tell(run.logger, 'a session failed', { agent, action, runId: run.runId, sessionId: id, thrown });
        await recordFailure(runtime, id, action, thrown, run.runId).catch((error: unknown) => {
          unrecorded.push(error);
          run.logger.error('a failure could not be written to the error log', {
            sessionId: id,
            action,
          });
        });
        return failedJob(id, action, thrown);
      }
    },
    // A session that takes all of its time holds back the jobs after it, not their work.
    { concurrency: run.concurrency, backpressure: Math.min(run.concurrency * 10, Number.MAX_SAFE_INTEGER) },
  );
  for await (const job of jobs) if (job !== undefined) yield job;
  if (unrecorded.length > 0) throw new ErrorLogUnavailableError(unrecorded.length, unrecorded[0]);
}

interface Run {
  readonly runtime: AgentRuntime;
  readonly action: string;
  readonly handler: SessionJobHandler;
  readonly concurrency: number;
  readonly timeoutMs: number;
  readonly runId: string;
  readonly now: Date;
  readonly signal: AbortSignal | undefined;
  readonly mayBegin: () => boolean;
  readonly handles: AgentHandles | undefined;
  readonly secrets: Secrets | undefined;
  readonly logger: JobLogger;
}

const optionNames = fieldsOf<SessionJobOptions>()({
  ...{ sessions: 1, concurrency: 1, timeoutSecs: 1, runId: 1, now: 1, signal: 1, mayBegin: 1 },
  ...{ logger: 1, handles: 1, secrets: 1 },
});

const silent: JobLogger = { info() {}, warn() {}, error() {} };

function resolve(
  runtime: AgentRuntime,
  action: string,
  handler: SessionJobHandler,
  options: SessionJobOptions,
): Run {
  checkFields('options', options, optionNames);
  const { concurrency = sessionConcurrency, timeoutSecs = sessionTimeoutSecs } = options;
  const problem = callbackProblem(handler);
  if (problem !== undefined) throw new InvalidInputError('handler', problem);
  if (!Number.isSafeInteger(concurrency) || concurrency < 1)
    throw new InvalidInputError('concurrency', 'must be a whole number above 0');
  if (!(timeoutSecs > 0 && timeoutSecs < sessionTimeoutEndSecs))
    throw new InvalidInputError('timeoutSecs', `must be a number above 0 and below ${sessionTimeoutEndSecs}`);
  return {
    ...{ runtime, handler, concurrency },
    action: checkName('action', action),
    timeoutMs: timeoutSecs * 1000,
    runId: options.runId ?? runtime.newId(),
    now: options.now ?? runtime.now(),
    signal: options.signal,
    handles: options.handles,
    secrets: options.secrets,
    mayBegin: options.mayBegin ?? (() => true),
    logger: options.logger ?? silent,
  };
}

/** The handler's value; throws what it threw, what its value says went wrong, or that it took too long. */
async function runHandler(run: Run, session: Session): Promise<unknown> {
  const { handler, timeoutMs } = run;
  const context = new SessionContext(run, session);
  let timer: NodeJS.Timeout | undefined;
  const timedOut = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      const error = new JobTimeoutError(timeoutMs);
      context.timeOut(error);
      reject(error);
    }, timeoutMs);
  });
  try {
    // Called in a promise, so that a handler that throws at once is like one that rejects.
    const returned = await Promise.race([Promise.resolve().then(() => handler(session, context)), timedOut]);
    const error = errorIn(returned);
    if (error !== undefined) throw error;
    return returned;
  } finally {
    clearTimeout(timer);
  }
}

/** Whatever was thrown: one that cannot be printed costs no session its job. */
function tell(logger: JobLogger, message: string, details: Record<string, unknown>): void {
  try {
    logger.error(message, details);
  } catch {
    // Its message is in the job, and in the error log.
  }
}

async function* untilAborted(
  sessions: Iterable<Session> | AsyncIterable<Session>,
  signal: AbortSignal | undefined,
): AsyncGenerator<Session, void, undefined> {
  if (signal?.aborted) return;
  for await (const session of sessions) {
    yield session;
    if (signal?.aborted) return;
  }
}
