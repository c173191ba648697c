import { actionHandler } from './action-handler.ts';
import type { StoredRun } from './run.ts';
import type { RunEngine } from './run-engine.ts';
import { ShardTakenError } from './run-error.ts';
import { failRun, holdLease, noteEnd, settleRun } from './run-lifetime.ts';
import type { RunMessage } from './run-message.ts';
import type { ShardProgress } from './run-store.ts';
import { isOver } from './shard-progress.ts';
import { shardSessions } from './shard-sessions.ts';
import { type Visitor, visitor } from './visit-sessions.ts';
import { watchRun } from './watch-run.ts';

export interface WorkOptions {
  /**
   * How much time this worker has left: as long as it may hold the run's lease, half an hour, unless given. Sessions whose limit does not fit into half of it are cut
   * off earlier, so give each message a worker's whole time.
   */
  readonly remainingMs?: (() => number) | undefined;
  /** Once aborted, no session is begun any more: those under way end in their time, and the rest is handed on. */
  readonly stop?: AbortSignal | undefined;
}

/** `dropped`: there is nothing to do for this message; another one does it, or it is done. */
export type ShardOutcome = 'finished' | 'handed_over' | 'dropped';

export interface ShardWork {
  readonly outcome: ShardOutcome;
  /** Jobs that were committed for this message, by how they ended. */
  readonly ok: number;
  readonly failed: number;
}

const leaseLost = 'another run took over: the lease had run out';
const nothing = { ok: 0, failed: 0 };
const dropped: ShardWork = { outcome: 'dropped', ...nothing };

/**
 * Works on the shard of a message: visits its sessions page by page, from wherever it is, until it is done or the time
 * is nearly up. 1. claim the shard for this message, 2. visit a page of sessions, 3. commit its jobs, cursor and totals
 * in one write, and so on, 4. hand the rest on in a new message, or add the shard's totals to the run; the last shard
 * ends it. After a crash the message comes again and goes on from the last committed page: sessions after it are
 * visited again, with the same `idempotencyKey`, and counted once.
 *
 * Rejects when the message should come again: `UnavailableError`, `ShardTakenError`.
 *
 * @example
 * const { outcome, ok, failed } = await workShard(engine, message, { remainingMs: () => context.getRemainingTimeInMillis() });
 */
export async function workShard(
  engine: RunEngine,
  message: RunMessage,
  options: WorkOptions = {},
): Promise<ShardWork> {
  if (message.watch !== undefined) {
    await watchRun(engine, message, message.watch);
    return dropped;
  }
  const run = await engine.attempt(() => engine.runs.get(message));
  if (run === undefined) return dropped;
  if (run.status !== 'running' || !run.pending.includes(message.shard)) {
    // The worker that finished the shard may have died before the run was ended, or its lease given back.
    await (isOver(run) ? settleRun(engine, run) : noteEnd(engine, run, run));
    return dropped;
  }

  const definition = engine.agents.get(run.agent);
  const handler = await actionHandler(definition, run.action);
  if (definition === undefined || handler === undefined) {
    await failRun(engine, run, 'the agent does not have this action any more');
    return dropped;
  }

  const owner = await engine.attempt(() => engine.runs.claimShard(message, message));
  if (owner.dispatchId !== message.dispatchId) return dropped;
  if (owner.handOvers > message.handOvers + 1) return dropped;
  // This message was handed on; whether its successor was sent before the crash is not known.
  if (owner.handOvers === message.handOvers + 1) return sendOn(engine, message);
  if (!(await holdLease(engine, run))) {
    await failRun(engine, run, leaseLost);
    return dropped;
  }
  return workOn(engine, run, message, visitor(engine, run, { definition, handler, ...options }));
}

async function workOn(
  engine: RunEngine,
  run: StoredRun,
  message: RunMessage,
  visits: Visitor,
): Promise<ShardWork> {
  const before = await engine.attempt(() => engine.runs.progress(message));
  let progress = before;
  const committed = () => ({ ok: progress.ok - before.ok, failed: progress.failed - before.failed });
  // The message that follows prolongs the lease.
  const handOnAt = engine.clock().getTime() + engine.leaseMs / 4;
  const isLong = () => engine.clock().getTime() >= handOnAt;
  while (!progress.done) {
    if (!visits.hasTime() || isLong()) {
      await engine.attempt(() => engine.runs.handOver(message, message));
      return { ...(await sendOn(engine, message)), ...committed() };
    }
    progress = await workPage(engine, run, message, { progress, visits });
  }
  const now = await engine.attempt(() => engine.runs.finishShard(message, progress, engine.clock()));
  await noteEnd(engine, run, now);
  return { outcome: 'finished', ...committed() };
}

async function workPage(
  engine: RunEngine,
  run: StoredRun,
  message: RunMessage,
  { progress, visits }: { progress: ShardProgress; visits: Visitor },
): Promise<ShardProgress> {
  const { shard } = message;
  const sessions = await shardSessions(engine, run, { shard, after: progress.cursor });
  const { jobs, unrecorded } = await visits.visit(sessions.items);
  const whole = jobs.length === sessions.items.length;
  if (!whole && jobs.length === 0) return progress;
  const cursor = (whole ? sessions.next : undefined) ?? jobs.at(-1)?.sessionId ?? progress.cursor;
  const page = {
    ...{ jobs, cursor, unrecorded },
    done: whole && sessions.next === undefined,
    writer: engine.newId(),
  };
  const committed = await engine.attempt(() => engine.runs.commitPage(message, progress, page));
  if (committed === undefined) throw new ShardTakenError(run.runId, shard);
  return committed;
}

async function sendOn(engine: RunEngine, message: RunMessage): Promise<ShardWork> {
  await engine.attempt(() => engine.queue.send([{ ...message, handOvers: message.handOvers + 1 }]));
  return { outcome: 'handed_over', ...nothing };
}
