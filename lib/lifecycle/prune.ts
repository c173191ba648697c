import type { AgentMemory } from '../memory/agent-memory.ts';
import type { RecordKind } from '../memory/memory-store.ts';
import type { RetentionPolicy } from '../memory/retention.ts';
import { checkPolicy, secondsOf } from '../memory/retention.ts';
import type { AgentRuntime } from '../runtime/agent-runtime.ts';
import type { Session } from '../sessions/session.ts';
import type { LifecycleJob } from './lifecycle-job.ts';
import { runSessionJob } from './run-session-job.ts';
import type { SessionJobOptions } from './session-job.ts';

const pruneAction = 'prune-raw-memory';

/**
 * Deletes raw messages with a timestamp up to and including now - `rawRetentionSecs`, and resolves how many. None where
 * the policy sets no retention, or one of 0 or less. Not a `forget`: a policy that forbids forgetting still prunes.
 *
 * @example
 * const removed = await pruneRawMemory(runtime.memory('chat-7'), DEFAULT_RETENTION);
 */
export async function pruneRawMemory(memory: AgentMemory, policy: RetentionPolicy): Promise<number> {
  return prune(memory, 'message', checkPolicy(policy).rawRetentionSecs);
}

/**
 * As `pruneRawMemory`, for capsules by `capsuleRetentionSecs` and the time at which they were made.
 *
 * @example
 * const removed = await pruneCapsules(runtime.memory('chat-7'), { ...DEFAULT_RETENTION, capsuleRetentionSecs: 86_400 });
 */
export async function pruneCapsules(memory: AgentMemory, policy: RetentionPolicy): Promise<number> {
  return prune(memory, 'capsule', checkPolicy(policy).capsuleRetentionSecs);
}

async function prune(memory: AgentMemory, kind: RecordKind, retention: number | null): Promise<number> {
  const seconds = secondsOf(retention);
  if (seconds === undefined) return 0;
  const to = memory.clock().getTime() - seconds * 1000;
  return memory.store.prune(memory.scope, kind, to);
}

/**
 * Applies the policy to every registered session, one job each, whose result is the number of messages removed. Records
 * expire by the policy under which they were stored; this applies the one that holds now. The memory of a session that
 * is not registered is never touched.
 *
 * @example
 * const jobs = await pruneSessions(runtime, runtime.policy, (session) => runtime.memory(session));
 */
export async function pruneSessions(
  runtime: AgentRuntime,
  policy: RetentionPolicy,
  memoryForSession: (session: Session) => AgentMemory | Promise<AgentMemory>,
  options: SessionJobOptions = {},
): Promise<LifecycleJob[]> {
  const pruneSession = async (session: Session) => {
    const memory = await memoryForSession(session);
    const removed = await pruneRawMemory(memory, policy);
    await pruneCapsules(memory, policy);
    return removed;
  };
  return runSessionJob(runtime, pruneAction, pruneSession, options);
}
