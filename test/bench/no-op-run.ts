import { indexAgents } from '../../lib/agents/define-agent.ts';
import { dynamoDbRuns } from '../../lib/dynamodb/dynamodb-runs.ts';
import { dynamoDbStores } from '../../lib/dynamodb/dynamodb-stores.ts';
import { errorsTable, runsTable, sessionsTable } from '../../lib/dynamodb/tables.ts';
import { inMemoryRunQueue } from '../../lib/in-memory/run-queue.ts';
import type { StoredRun } from '../../lib/runs/run.ts';
import { runEngine } from '../../lib/runs/run-engine.ts';
import type { RunStore } from '../../lib/runs/run-store.ts';
import { progressAfter } from '../../lib/runs/shard-progress.ts';
import { startRun } from '../../lib/runs/start-run.ts';
import { workShard } from '../../lib/runs/work-shard.ts';
import type { EmbeddedProcess } from './embedded-process.ts';
import { sessionNumber } from './registered-sessions.ts';

export interface NoOpRun {
  /** The run as it ended. */
  readonly run: StoredRun;
  /** Sessions that were visited at all, and those of them that were visited exactly once. */
  readonly visited: number;
  readonly visitedOnce: number;
}

/**
 * Runs a handler that only counts over all sessions of an agent, from the request to the end of the run, in this
 * process. The counts take a byte for each session, so that they hardly count as the engine's memory.
 */
export async function noOpRun(
  { client, tableName }: EmbeddedProcess,
  agent: string,
  count: number,
  storeOf: (runs: RunStore) => RunStore = (runs) => runs,
): Promise<NoOpRun> {
  const visits = new Uint8Array(count);
  const action = 'no-op';
  const handler = ({ id }: { id: string }) => {
    const number = sessionNumber(id);
    visits[number] = (visits[number] ?? 0) + 1;
  };
  const { runs, leases } = dynamoDbRuns({ client, runsTable: tableName(runsTable) });
  const queue = inMemoryRunQueue();
  const engine = runEngine({
    agents: indexAgents([{ name: agent, actions: { [action]: handler } }]),
    stores: dynamoDbStores({
      client,
      sessionsTable: tableName(sessionsTable),
      errorsTable: tableName(errorsTable),
    }),
    ...{ runs: storeOf(runs), leases, queue },
  });

  const { run } = await startRun(engine, { agent, action });
  await queue.drain((message) => workShard(engine, message));

  const ended = await runs.get(run);
  if (ended?.status !== 'completed') throw new Error(`the run is ${ended?.status}`);
  const times = (wanted: (visits: number) => boolean) => visits.filter(wanted).length;
  const [visited, visitedOnce] = [times((visits) => visits > 0), times((visits) => visits === 1)];
  if (visitedOnce !== count) throw new Error(`${visitedOnce} of ${count} sessions were visited exactly once`);
  return { run: ended, visited, visitedOnce };
}

/** Everything but the pages of jobs is written. */
export function withoutJobWrites(runs: RunStore): RunStore {
  return { ...runs, commitPage: async (_shard, before, page) => progressAfter(before, page) };
}
