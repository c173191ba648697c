import pMap from 'p-map';
import { requestedRunsMax } from '../defaults.ts';
import type { StoredRun } from './run.ts';
import type { RunEngine } from './run-engine.ts';
import { TooManyRunsError } from './run-error.ts';
import { timeOfRunId } from './run-id.ts';
import type { NewRun } from './run-store.ts';
import { noProgress } from './shard-progress.ts';

/**
 * Takes the lease of the run's action, or prolongs it. Resolves false when another run has it. A run that may overlap
 * others needs none.
 */
export async function holdLease(engine: RunEngine, run: StoredRun): Promise<boolean> {
  if (run.overlap === 'allow') return true;
  const { agent, action, runId } = run;
  const lease = await engine.attempt(() => {
    const now = engine.clock();
    const until = new Date(now.getTime() + engine.leaseMs);
    return engine.leases.acquire(agent, action, { runId, until }, now);
  });
  return lease.runId === runId;
}

/** Whether the run has one of its agent's places: no lease keeps a request from starting the next one. */
function takesPlace({ overlap, trigger }: Pick<StoredRun, 'overlap' | 'trigger'>): boolean {
  return overlap === 'allow' && trigger === 'request';
}

/** A run has its record this long after it took its place, or never: whoever asked for it has got its answer by then. */
const recordedWithinMs = 15 * 60 * 1000;

/**
 * Takes a place for a run before its record is written, where it needs one. Those of runs that have ended, or that were
 * never written, are given back first, in case somebody died before he could.
 *
 * @throws TooManyRunsError
 */
export async function takePlace(engine: RunEngine, run: NewRun): Promise<void> {
  if (!takesPlace(run)) return;
  const { leases, attempt, clock } = engine;
  const { agent, runId } = run;
  const enter = () => attempt(() => leases.enter(agent, runId, requestedRunsMax));
  const taken = await enter();
  if (taken === undefined) return;
  const isOver = async (other: string) => {
    const found = await attempt(() => engine.runs.get({ agent, runId: other }));
    if (found !== undefined) return found.status !== 'running';
    return Math.abs(clock().getTime() - timeOfRunId(other).getTime()) > recordedWithinMs;
  };
  const checked = await pMap(taken, async (other) => ((await isOver(other)) ? [other] : []), {
    concurrency: 8,
  });
  const over = checked.flat();
  if (over.length > 0) {
    await attempt(() => leases.leave(agent, over));
    if ((await enter()) === undefined) return;
  }
  throw new TooManyRunsError(requestedRunsMax);
}

/** For a run that was not written. */
export async function leavePlace(engine: RunEngine, run: NewRun): Promise<void> {
  const { agent, runId } = run;
  if (takesPlace(run)) await engine.attempt(() => engine.leases.leave(agent, [runId]));
}

async function releaseLease(engine: RunEngine, run: StoredRun): Promise<void> {
  if (run.overlap === 'allow') return leavePlace(engine, run);
  await engine.attempt(() => engine.leases.release(run.agent, run.action, run.runId));
}

/**
 * What is left to do when a run may have ended: its lease is given back, and the end of one that was still running
 * `before` is said aloud.
 */
export async function noteEnd(engine: RunEngine, before: StoredRun, now: StoredRun): Promise<void> {
  if (now.status === 'running') return;
  await releaseLease(engine, now);
  if (before.status !== 'running') return;
  const { agent, action, runId, sessions, ok, failed, reason } = now;
  const ms = now.finishedAt === undefined ? undefined : now.finishedAt.getTime() - now.startedAt.getTime();
  const details = { agent, action, runId, sessions, ok, failed, reason, ms };
  if (now.status === 'failed') engine.logger.error('the run has failed', details);
  else engine.logger.info('the run is complete', details);
  engine.onEnd(now);
}

/** Ends a run of which every shard is finished: the worker that finished the last one may have died before it did. */
export async function settleRun(engine: RunEngine, run: StoredRun): Promise<void> {
  const at = engine.clock();
  const { agent, runId } = run;
  const now = await engine.attempt(() => engine.runs.finishShard({ agent, runId, shard: 0 }, noProgress, at));
  await noteEnd(engine, run, now);
}

/** Ends a run that cannot go on. Nothing happens to one that has ended. */
export async function failRun(engine: RunEngine, run: StoredRun, reason: string): Promise<void> {
  const at = engine.clock();
  const now = await engine.attempt(() => engine.runs.end(run, { status: 'failed', reason, at }));
  await noteEnd(engine, run, now);
}

/** How often the lease of an action is given back in the name of a run that has ended, before another one has it. */
const leaseAttempts = 3;

/**
 * Takes the lease of a run that is to start. Resolves false when another run is going. One that has ended may hold it
 * again: its last call to prolong it was late.
 */
export async function takeLease(engine: RunEngine, run: StoredRun): Promise<boolean> {
  if (run.overlap === 'allow') return true;
  for (let attempt = 1; attempt <= leaseAttempts && (await makeWay(engine, run)); attempt++)
    if (await holdLease(engine, run)) return true;
  return false;
}

/**
 * Makes way for a run: the lease of one that has ended is given back, and one whose lease has run out is failed, since
 * nobody works on it any more. Its record must say so before its name is gone from the lease. Resolves false when
 * another run is going.
 */
async function makeWay(engine: RunEngine, { agent, action, runId }: StoredRun): Promise<boolean> {
  const holder = await engine.attempt(() => engine.leases.holder(agent, action));
  if (holder === undefined || holder.runId === runId) return true;
  const other = await engine.attempt(() => engine.runs.get({ agent, runId: holder.runId }));
  if (other === undefined || other.status !== 'running')
    await engine.attempt(() => engine.leases.release(agent, action, holder.runId));
  else if (holder.until <= engine.clock())
    await failRun(engine, other, 'the run was abandoned: its lease ran out');
  else return false;
  return true;
}
