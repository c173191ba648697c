import pMap from 'p-map';
import type { StoredRun } from './run.ts';
import type { RunEngine } from './run-engine.ts';
import { failRun, settleRun } from './run-lifetime.ts';
import type { RunMessage, RunWatch } from './run-message.ts';
import type { RunRef } from './run-store.ts';
import { isOver } from './shard-progress.ts';

/*
 * Every run ends, also one of which nobody is left to say so: its workers died on the last delivery, its messages were
 * lost, whoever started it died half-way. Each run has one message more, sent before its record is written, which comes
 * every quarter of an hour until the run has ended, and says what the last look has seen. When for 3 hours nothing has
 * changed, the run fails.
 *
 * It is no clock that tells a slow run from a dead one, but the queue: looks are counted, and wait in it as the messages
 * of the run do. A backlog that holds these back holds back the looks too.
 */

const firstLook: RunWatch = { seen: '', looks: 0 };

/** Has the run looked at later. Before its record is written: afterwards nobody might be there to do it. */
export async function watchLater(engine: RunEngine, run: RunRef, watch = firstLook): Promise<void> {
  const { queue, attempt, watchSecs } = engine;
  const { agent, runId } = run;
  const message: RunMessage = { v: 1, agent, runId, shard: 0, dispatchId: 'watch', handOvers: 0, watch };
  await attempt(async () => queue.sendLater?.([message], watchSecs));
}

/** Looks whether a run still shows signs of life, has it looked at again, and fails it where it has shown none for long. */
export async function watchRun(engine: RunEngine, ref: RunRef, { seen, looks }: RunWatch): Promise<void> {
  const run = await engine.attempt(() => engine.runs.get(ref));
  // Without a record by now, it was never written.
  if (run === undefined || run.status !== 'running') return;
  if (isOver(run)) return settleRun(engine, run);
  const now = await signOf(engine, run);
  const again = { seen: now, looks: now === seen ? looks + 1 : 1 };
  if (again.looks <= engine.silentLooks) return watchLater(engine, run, again);
  const hours = Math.round((engine.silentLooks * engine.watchSecs) / 360) / 10;
  await failRun(engine, run, `no worker has got any further with it for ${hours} hours`);
}

/** Changes with every page that a worker commits and every shard that it finishes. */
async function signOf({ runs, attempt }: RunEngine, { agent, runId, pending }: StoredRun): Promise<string> {
  const shards = await pMap(pending, async (shard) => {
    const { pages } = await attempt(() => runs.progress({ agent, runId, shard }));
    return `${shard}:${pages}`;
  });
  return shards.join(' ');
}
