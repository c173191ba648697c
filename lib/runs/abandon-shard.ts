import type { RunEngine } from './run-engine.ts';
import { ShardTakenError } from './run-error.ts';
import { noteEnd } from './run-lifetime.ts';
import type { RunMessage } from './run-message.ts';

/**
 * Gives a shard up, for a message that failed as often as the queue delivers one: the run goes on without the sessions
 * that are left in it, and ends as failed. Nothing happens when the message failed because another worker has the
 * shard, or when the shard is finished.
 *
 * @example
 * await workShard(engine, message).catch(async (error) => {
 *   if (isLastDelivery) await abandonShard(engine, message, error);
 *   throw error;
 * });
 */
export async function abandonShard(engine: RunEngine, message: RunMessage, error: unknown): Promise<void> {
  // A look at a run has no shard.
  if (error instanceof ShardTakenError || message.watch !== undefined) return;
  const run = await engine.attempt(() => engine.runs.get(message));
  if (run === undefined || !run.pending.includes(message.shard)) return;
  const { agent, runId, shard } = message;
  engine.logger.error('a shard of the run was given up', { agent, action: run.action, runId, shard });
  const progress = await engine.attempt(() => engine.runs.progress(message));
  const at = engine.clock();
  const now = await engine.attempt(() => engine.runs.finishShard(message, progress, at));
  await noteEnd(engine, run, now);
}
