import { formatTable } from '../../infra/demo/table.ts';
import type { LifecycleRuns } from './lifecycle-runs.ts';

const rateRatioMin = 0.5;

/** What was measured of runs, as a table each: what was visited, how much memory that took, and how fast it was. */
export function lifecycleTables(runs: LifecycleRuns): string[] {
  const [few, many] = [runs.fewSessions, runs.manySessions].map((count) => count.toLocaleString('en-US'));
  return [
    visitTable(runs),
    heapTable(runs, `MB over ${few}`, `MB over ${many}`),
    rateTable(runs, `run over ${many} sessions`),
  ];
}

function visitTable({ manySessions, run: { run, visited, visitedOnce } }: LifecycleRuns): string {
  return formatTable(
    ['no-op run', 'registered', 'visited', 'exactly once', 'jobs', 'ok', 'failed'],
    [[run.status, manySessions, visited, visitedOnce, run.sessions, run.ok, run.failed]],
  );
}

function heapTable({ heap }: LifecycleRuns, few: string, many: string): string {
  return formatTable(
    ['heap at its peak', few, many, 'growth', 'limit'],
    [['after garbage collection', heap.fewMB, heap.manyMB, heap.manyMB - heap.fewMB, heap.growthMaxMB]],
  );
}

function rateTable({ rowsPerSec, sessionsPerSec }: LifecycleRuns, title: string): string {
  const row = (what: string, rate: number, atLeast: string) => [
    ...[what, Math.round(rate), 'bare paging through its rows', Math.round(rowsPerSec)],
    ...[(rate / rowsPerSec).toFixed(2), atLeast],
  ];
  return formatTable(
    [title, 'sessions/s', 'against', 'rows/s', 'ratio', 'at least'],
    [
      row('job writes off', sessionsPerSec.without, rateRatioMin.toFixed(2)),
      row('job writes on', sessionsPerSec.withJobWrites, ''),
    ],
  );
}
