import type { AgentRuntime } from '../runtime/agent-runtime.ts';
import { jobErrorOf, stackOf } from './job-outcome.ts';
import type { LifecycleJob } from './lifecycle-job.ts';

/**
 * The record of a job that succeeded.
 *
 * @example
 * jobOk('chat-7', 'digest', 'sent'); // { sessionId: 'chat-7', action: 'digest', ok: true, result: 'sent', error: null }
 */
export function jobOk(sessionId: string, action: string, result?: unknown): LifecycleJob {
  return { sessionId, action, ok: true, result: result ?? null, error: null };
}

/**
 * The record of a job that did not succeed, which it also writes to the error log. Takes whatever was thrown.
 *
 * @example
 * const job = await jobError(runtime, 'chat-7', 'digest', failed('nobody listens'));
 */
export async function jobError(
  runtime: AgentRuntime,
  sessionId: string,
  action: string,
  thrown: unknown,
  { runId }: { runId?: string | undefined } = {},
): Promise<LifecycleJob> {
  await recordFailure(runtime, sessionId, action, thrown, runId);
  return failedJob(sessionId, action, thrown);
}

export function failedJob(sessionId: string, action: string, thrown: unknown): LifecycleJob {
  const { kind, reason } = jobErrorOf(thrown);
  return {
    sessionId,
    action,
    ok: false,
    result: null,
    error: { kind, reason: reason.slice(0, reasonMaxChars).toWellFormed() },
  };
}

/** A job is kept and listed with thousands of others; the error log has more. */
const reasonMaxChars = 500;

export async function recordFailure(
  runtime: AgentRuntime,
  sessionId: string,
  action: string,
  thrown: unknown,
  runId: string | undefined,
): Promise<void> {
  const { kind, reason } = jobErrorOf(thrown);
  const msg = kind === 'thrown' ? reason : `${kind}: ${reason}`;
  await runtime.recordError({ where: action, msg, stack: stackOf(thrown), sessionId, runId });
}
