import pMap from 'p-map';
import type { StoredRun } from './run.ts';
import type { RunStore } from './run-store.ts';
import { addTotals } from './shard-progress.ts';

/**
 * The run with the totals of every page that was committed by now, also of shards that are still under way. Exact at any
 * time: they are the number of its jobs. One read for each of those shards; none for a run that is over.
 *
 * @example
 * const run = await runs.get({ agent: 'support', runId });
 * const { sessions, ok, failed } = run && (await currentTotals(runs, run));
 */
export async function currentTotals(runs: RunStore, run: StoredRun): Promise<StoredRun> {
  const { agent, runId, pending } = run;
  const underWay = await pMap(pending, (shard) => runs.progress({ agent, runId, shard }));
  return { ...run, ...addTotals(run, ...underWay) };
}
