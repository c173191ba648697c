import { barePaging } from './bare-paging.ts';
import { type EmbeddedProcess, withEmbeddedProcess } from './embedded-process.ts';
import { heapPeak } from './heap-peak.ts';
import { inTurn } from './measure.ts';
import { type NoOpRun, noOpRun, withoutJobWrites } from './no-op-run.ts';
import { registerSessions } from './registered-sessions.ts';

const few = { agent: 'few', count: 1_000 };
const many = { agent: 'many', count: 100_000 };
const heapGrowthMaxMB = 50;
const rounds = 2;

export interface LifecycleRuns {
  readonly fewSessions: number;
  readonly manySessions: number;
  /** The run over many sessions whose memory was measured. */
  readonly run: NoOpRun;
  readonly heap: { readonly fewMB: number; readonly manyMB: number; readonly growthMaxMB: number };
  /** By the fastest of several rounds, as are sessions. */
  readonly rowsPerSec: number;
  readonly sessionsPerSec: { readonly withJobWrites: number; readonly without: number };
}

/** Runs that do nothing over 1,000 and over 100,000 sessions, and bare paging through the rows of the latter. */
export async function lifecycleRuns(): Promise<LifecycleRuns> {
  return withEmbeddedProcess(async (database) => {
    for (const { agent, count } of [few, many]) await registerSessions(database, agent, count);
    // What the first run loads and compiles stays, however many sessions the next one has.
    await heapOf(database, few);
    const small = await heapOf(database, few);
    const large = await heapOf(database, many);
    return {
      ...{ fewSessions: few.count, manySessions: many.count, run: large.run },
      heap: { fewMB: small.megabytes, manyMB: large.megabytes, growthMaxMB: heapGrowthMaxMB },
      ...(await ratesOf(database)),
    };
  });
}

async function heapOf(database: EmbeddedProcess, { agent, count }: typeof few) {
  const peak = heapPeak();
  const run = await noOpRun(database, agent, count, peak.observe);
  return { run, megabytes: peak.megabytes };
}

async function ratesOf(
  database: EmbeddedProcess,
): Promise<Pick<LifecycleRuns, 'rowsPerSec' | 'sessionsPerSec'>> {
  const { agent, count } = many;
  const calls = {
    paging: async () => {
      const rows = await barePaging(database, agent);
      if (rows !== count) throw new Error(`${rows} rows were read of ${count}`);
    },
    without: () => noOpRun(database, agent, count, withoutJobWrites),
    withJobWrites: () => noOpRun(database, agent, count),
  };
  const times = await inTurn(calls, { warmUp: 0, rounds });
  // The fastest: whatever else the machine does in seconds as long as these only adds to them, and to few rounds unevenly.
  const perSec = (name: keyof typeof calls) => (count / Math.min(...times[name])) * 1000;
  return {
    rowsPerSec: perSec('paging'),
    sessionsPerSec: { withJobWrites: perSec('withJobWrites'), without: perSec('without') },
  };
}
