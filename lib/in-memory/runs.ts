import type { LifecycleJob } from '../lifecycle/lifecycle-job.ts';
import { checkRunPlace, formatJobPlace, type JobPlace, parseJobPlace } from '../runs/job-place.ts';
import type { StoredRun } from '../runs/run.ts';
import { RunNotFoundError } from '../runs/run-error.ts';
import type { RunLeases } from '../runs/run-leases.ts';
import type { RunRef, RunStore, ShardClaim, ShardProgress, ShardRef } from '../runs/run-store.ts';
import {
  addTotals,
  endOf,
  endTime,
  isOver,
  noProgress,
  progressAfter,
  type RunFaults,
} from '../runs/shard-progress.ts';
import { inMemoryRunLeases } from './run-leases.ts';

interface ShardPageRecord {
  readonly writer: string;
  readonly jobs: readonly LifecycleJob[];
  readonly progress: ShardProgress;
}

interface RunRecord {
  isAdmitted?: boolean;
  run: StoredRun;
  faults: RunFaults;
  readonly claims: Map<number, ShardClaim>;
  readonly pages: Map<number, ShardPageRecord[]>;
}

/**
 * Keeps runs, jobs and leases in this process only: for tests, and for agents that need not outlive it.
 *
 * @example
 * const engine = runEngine({ agents, stores: inMemoryStores(), ...inMemoryRuns(), queue: inMemoryRunQueue() });
 */
export function inMemoryRuns(): { readonly runs: RunStore; readonly leases: RunLeases } {
  return { runs: inMemoryRunStore(), leases: inMemoryRunLeases() };
}

function inMemoryRunStore(): RunStore {
  const records = new Map<string, RunRecord>();
  const keyOf = ({ agent, runId }: RunRef) => JSON.stringify([agent, runId]);

  const found = (ref: RunRef): RunRecord => {
    const record = records.get(keyOf(ref));
    if (record === undefined) throw new RunNotFoundError(ref.runId);
    return record;
  };
  const pagesOf = (ref: ShardRef) => records.get(keyOf(ref))?.pages.get(ref.shard) ?? [];
  const progressOf = (ref: ShardRef) => pagesOf(ref).at(-1)?.progress ?? noProgress;
  const copy = (record: RunRecord) => structuredClone(record.run);

  return {
    async create(run) {
      const known = records.get(keyOf(run));
      if (known !== undefined) return { run: copy(known), created: false };
      const totals = addTotals();
      const stored: StoredRun = structuredClone({ ...run, ...totals, status: 'running', dispatched: false });
      records.set(keyOf(run), {
        run: stored,
        faults: { unrecorded: 0, abandoned: 0 },
        claims: new Map(),
        pages: new Map(),
      });
      return { run: structuredClone(stored), created: true };
    },
    async get(ref) {
      const record = records.get(keyOf(ref));
      return record && copy(record);
    },
    async list({ agent, action, limit, after }) {
      const before = checkRunPlace(after);
      const matching = [...records.values()]
        .filter(({ run }) => run.agent === agent && (action === undefined || run.action === action))
        .filter(({ run }) => before === undefined || run.runId < before)
        .sort((a, b) => (a.run.runId < b.run.runId ? 1 : -1));
      const items = matching.slice(0, limit).map(copy);
      return { items, next: matching.length > limit ? items.at(-1)?.runId : undefined };
    },
    async admit(ref) {
      const record = found(ref);
      if (record.run.status === 'running') record.isAdmitted = true;
      return copy(record);
    },
    async markDispatched(ref) {
      const record = found(ref);
      record.run = { ...record.run, dispatched: true };
    },
    async end(ref, { status, reason, at }) {
      const record = found(ref);
      if (record.run.status === 'running' && !(status === 'skipped' && record.isAdmitted)) {
        const pending = status === 'skipped' ? [] : record.run.pending;
        const finishedAt = endTime(record.run.startedAt, at);
        record.run = { ...record.run, status, reason, pending, finishedAt };
      }
      return copy(record);
    },
    async claimShard(ref, { dispatchId, handOvers }) {
      const { claims } = found(ref);
      const claim = claims.get(ref.shard) ?? { dispatchId, handOvers };
      claims.set(ref.shard, claim);
      return claim;
    },
    async handOver(ref, { dispatchId, handOvers }) {
      const { claims } = found(ref);
      const claim = claims.get(ref.shard);
      if (claim?.dispatchId === dispatchId && claim.handOvers === handOvers)
        claims.set(ref.shard, { dispatchId, handOvers: handOvers + 1 });
    },
    async progress(ref) {
      return progressOf(ref);
    },
    async commitPage(ref, before, page) {
      const pages = pagesOf(ref);
      const there = pages[before.pages];
      if (there !== undefined) return there.writer === page.writer ? there.progress : undefined;
      const progress = progressAfter(before, page);
      found(ref).pages.set(ref.shard, [
        ...pages,
        { writer: page.writer, jobs: structuredClone(page.jobs), progress },
      ]);
      return progress;
    },
    async finishShard(ref, progress, at) {
      const record = found(ref);
      const { run } = record;
      if (run.pending.includes(ref.shard)) {
        const pending = run.pending.filter((shard) => shard !== ref.shard);
        record.run = { ...run, ...addTotals(run, progress), pending };
        const { unrecorded, abandoned } = record.faults;
        record.faults = {
          unrecorded: unrecorded + progress.unrecorded,
          abandoned: abandoned + (progress.done ? 0 : 1),
        };
      }
      if (isOver(record.run))
        record.run = {
          ...record.run,
          ...endOf(record.faults),
          finishedAt: endTime(run.startedAt, at),
        };
      return copy(record);
    },
    async listJobs({ agent, runId, ok, limit, after }) {
      const start = parseJobPlace(after);
      const following: { place: JobPlace; job: LifecycleJob }[] = [];
      const shards = [...(records.get(keyOf({ agent, runId }))?.pages ?? [])].sort(([a], [b]) => a - b);
      for (const [shard, pages] of shards)
        for (const [page, { jobs }] of pages.entries())
          for (const [index, job] of jobs.entries())
            if ((ok === undefined || job.ok === ok) && isAfter({ shard, page, index }, start))
              following.push({ place: { shard, page, index }, job: structuredClone(job) });
      const last = following[limit - 1];
      return {
        items: following.slice(0, limit).map(({ job }) => job),
        next: following.length > limit && last ? formatJobPlace(last.place) : undefined,
      };
    },
  };
}

function isAfter(place: JobPlace, start: JobPlace | undefined): boolean {
  if (start === undefined) return true;
  return (place.shard - start.shard || place.page - start.page || place.index - start.index) > 0;
}
