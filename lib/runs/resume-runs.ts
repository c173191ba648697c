import { resumedRuns } from '../defaults.ts';
import type { StoredRun } from './run.ts';
import type { RunEngine } from './run-engine.ts';
import type { RunMessage } from './run-message.ts';
import { watchLater } from './watch-run.ts';

/**
 * Sends anew what is left to do of an agent's runs, for a host whose queue does not outlive it. Only while no worker is
 * busy: one that is would share its shards with another. Looks at the agent's newest 1000 runs, and resolves those that
 * go on.
 *
 * @example
 * for (const agent of engine.agents.keys()) await resumeRuns(engine, agent);
 */
export async function resumeRuns(engine: RunEngine, agent: string): Promise<StoredRun[]> {
  const { items } = await engine.attempt(() => engine.runs.list({ agent, limit: resumedRuns }));
  const cutOff = items.filter(({ status }) => status === 'running');
  for (const run of cutOff) {
    // Every shard may be finished and the run not ended yet: a message for any of them ends it.
    const shards = run.pending.length > 0 ? run.pending : [0];
    const messages = await Promise.all(shards.map((shard) => messageOf(engine, run, shard)));
    await watchLater(engine, run);
    // As in start-run.ts: a tick that is delivered meanwhile does not note it as skipped.
    await engine.attempt(() => engine.runs.admit(run));
    await engine.attempt(() => engine.queue.send(messages));
    await engine.attempt(() => engine.runs.markDispatched(run));
  }
  return cutOff;
}

/** The shard belongs to the message that was lost: the new one bears its dispatchId. */
async function messageOf(engine: RunEngine, { agent, runId }: StoredRun, shard: number): Promise<RunMessage> {
  const dispatchId = engine.newId();
  const claim = await engine.attempt(() =>
    engine.runs.claimShard({ agent, runId, shard }, { dispatchId, handOvers: 0 }),
  );
  return { v: 1, agent, runId, shard, ...claim };
}
