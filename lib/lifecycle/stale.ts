import type { RetentionPolicy } from '../memory/retention.ts';
import { secondsOf } from '../memory/retention.ts';
import type { AgentRuntime } from '../runtime/agent-runtime.ts';
import type { Session } from '../sessions/session.ts';
import type { LifecycleJob } from './lifecycle-job.ts';
import { runSessionJob } from './run-session-job.ts';
import type { SessionJobHandler, SessionJobOptions } from './session-job.ts';

const compactAction = 'compact-stale-sessions';

/**
 * Up to and including which moment messages are due for compaction; undefined where the policy never compacts.
 *
 * @example
 * compactionCutoff(DEFAULT_RETENTION, new Date('2027-01-08T00:00:00Z')); // 2027-01-01T00:00:00.000Z
 */
export function compactionCutoff(policy: RetentionPolicy, now: Date): Date | undefined {
  const seconds = secondsOf(policy.compactAfterSecs);
  return seconds === undefined ? undefined : new Date(now.getTime() - seconds * 1000);
}

/**
 * Nothing has come to the session for `compactAfterSecs`.
 *
 * @example
 * isStale(session, DEFAULT_RETENTION, new Date()); // true from seven days after `session.lastActiveAt` on
 */
export function isStale(
  { lastActiveAt }: Pick<Session, 'lastActiveAt'>,
  policy: RetentionPolicy,
  now: Date,
): boolean {
  const cutoff = compactionCutoff(policy, now);
  return cutoff !== undefined && lastActiveAt <= cutoff;
}

/**
 * `runSessionJob` under the name of the compaction. The handler sees every session and decides, for instance by
 * `isStale`, or leaves it to `compactMemory`, which takes only the messages that are due.
 *
 * @example
 * await compactStaleSessions(runtime, (session, { memory, signal }) =>
 *   compactMemory(memory(), ({ messages }) => `${messages.length} messages`, { signal }),
 * );
 */
export async function compactStaleSessions(
  runtime: AgentRuntime,
  handler: SessionJobHandler,
  options: SessionJobOptions = {},
): Promise<LifecycleJob[]> {
  return runSessionJob(runtime, compactAction, handler, options);
}
