import type { RunTotals, StoredRun } from './run.ts';
import type { ShardPage, ShardProgress } from './run-store.ts';

export const noProgress: ShardProgress = {
  ...{ pages: 0, done: false, unrecorded: 0 },
  ...{ sessions: 0, ok: 0, failed: 0 },
};

/** Where a shard is after one page more. */
export function progressAfter(
  before: ShardProgress,
  { jobs, cursor, done, unrecorded }: ShardPage,
): ShardProgress {
  const ok = jobs.filter((job) => job.ok).length;
  return {
    pages: before.pages + 1,
    ...{ cursor, done },
    unrecorded: before.unrecorded + unrecorded,
    ...addTotals(before, { sessions: jobs.length, ok, failed: jobs.length - ok }),
  };
}

export function addTotals(...parts: readonly RunTotals[]): RunTotals {
  const sum = (of: (totals: RunTotals) => number) => parts.reduce((total, part) => total + of(part), 0);
  return {
    sessions: sum(({ sessions }) => sessions),
    ok: sum(({ ok }) => ok),
    failed: sum(({ failed }) => failed),
  };
}

/** What makes a run fail whose sessions all had their turn, or not. */
export interface RunFaults {
  readonly unrecorded: number;
  /** Shards that were given up. */
  readonly abandoned: number;
}

/** How a run ends whose last shard is finished. */
export function endOf({ unrecorded, abandoned }: RunFaults): {
  status: 'completed' | 'failed';
  reason?: string;
} {
  const faults = [
    ...(abandoned > 0 ? [`${abandoned} shards could not be finished`] : []),
    ...(unrecorded > 0 ? [`${unrecorded} failures could not be written to the error log`] : []),
  ];
  return faults.length === 0 ? { status: 'completed' } : { status: 'failed', reason: faults.join('; ') };
}

/** Whether a run has nothing left to do but to be ended. */
export function isOver({ status, pending }: Pick<StoredRun, 'status' | 'pending'>): boolean {
  return status === 'running' && pending.length === 0;
}

/** No run ends before it began, whatever the clocks of those who began and ended it say. */
export function endTime(startedAt: Date, at: Date): Date {
  return at < startedAt ? startedAt : at;
}
