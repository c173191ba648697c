import type { StoredRun } from './run.ts';
import type { RunEngine } from './run-engine.ts';

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

async function releaseLease(engine: RunEngine, run: StoredRun): Promise<void> {
  if (run.overlap === 'allow') return;
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
  const details = { agent, action, runId, sessions, ok, failed, reason };
  if (now.status === 'failed') engine.logger.error('the run has failed', details);
  else engine.logger.info('the run is complete', details);
  engine.onEnd(now);
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
