import { actionNames } from '../agents/actions.ts';
import { runMaxSessions, sessionShards } from '../defaults.ts';
import { InvalidInputError } from '../errors.ts';
import { checkName } from '../input.ts';
import { shardOf } from '../sessions/shard-of.ts';
import type { Overlap, StoredRun } from './run.ts';
import type { RunEngine } from './run-engine.ts';
import { UnknownActionError } from './run-error.ts';
import { requestedRunId, scheduledRunId } from './run-id.ts';
import { failRun, leavePlace, noteEnd, takeLease, takePlace } from './run-lifetime.ts';
import type { RunMessage } from './run-message.ts';
import type { NewRun } from './run-store.ts';
import { watchLater } from './watch-run.ts';

export interface RunRequest {
  readonly agent: string;
  readonly action: string;
  /** The tick of a schedule that asks for the run: the schedule's name and the time at which it was due. */
  readonly tick?: { readonly schedule: string; readonly at: Date } | undefined;
  /** The only sessions to visit, up to 100; all registered ones unless given. */
  readonly sessions?: readonly string[] | undefined;
  /** What happens while another run of this action is still going: `skip` unless given. */
  readonly overlap?: Overlap | undefined;
}

export interface StartedRun {
  /** `duplicate`: this tick has its run already. `skipped`: noted, but another run of this action is still going. */
  readonly status: 'started' | 'duplicate' | 'skipped';
  readonly run: StoredRun;
}

/**
 * Starts one run for a request, or for a tick however often it is delivered.
 * 1. have the run watched, 2. create the record, under an id that the tick decides, 3. take the lease of the action, or
 * note the run as skipped, 4. admit it, after which nobody notes it as skipped, 5. send one message for each shard,
 * 6. mark the record. A crash in between is repaired when
 * the tick comes again: it goes through the same steps; where nothing comes again, the watch ends the run. Messages that are then sent twice are harmless: the first to come claims its shard.
 * A request does not come again: where this rejects, its run is failed.
 *
 * @throws UnknownActionError where the agent does not have the action; InvalidInputError naming the field;
 *   TooManyRunsError where 50 requested runs of the agent overlap already
 * @example
 * const { status, run } = await startRun(engine, { agent: 'support', action: 'digest' });
 */
export async function startRun(engine: RunEngine, request: RunRequest): Promise<StartedRun> {
  const wanted = await newRun(engine, request);
  const { run, created } = await record(engine, wanted);
  if (!created && (run.dispatched || run.status !== 'running')) return { status: 'duplicate', run };
  if (request.tick === undefined) return dispatchRequested(engine, run);
  const started = await dispatch(engine, run);
  return created || started.status === 'skipped' ? started : { ...started, status: 'duplicate' };
}

async function record(engine: RunEngine, wanted: NewRun): ReturnType<RunEngine['runs']['create']> {
  await takePlace(engine, wanted);
  try {
    await watchLater(engine, wanted);
    return await engine.attempt(() => engine.runs.create(wanted));
  } catch (error) {
    // Perhaps it was written, and its answer lost: then its watch ends it.
    await leavePlace(engine, wanted).catch(() => {});
    throw error;
  }
}

/**
 * Nobody repeats a request under its run's id: where it fails, its run must not stand in the way of the next one until
 * its lease is over.
 */
async function dispatchRequested(engine: RunEngine, run: StoredRun): Promise<StartedRun> {
  try {
    return await dispatch(engine, run);
  } catch (error) {
    await failRun(engine, run, 'it could not be started').catch(() => {});
    throw error;
  }
}

async function dispatch(engine: RunEngine, run: StoredRun): Promise<StartedRun> {
  if (!(await takeLease(engine, run))) return skip(engine, run);
  const admitted = await engine.attempt(() => engine.runs.admit(run));
  if (admitted.status !== 'running') {
    // Another delivery of the tick found the lease taken, or was done before.
    await noteEnd(engine, admitted, admitted);
    return { status: 'duplicate', run: admitted };
  }
  const dispatchId = engine.newId();
  const messages = run.pending.map((shard): RunMessage => {
    const { agent, runId } = run;
    return { v: 1, agent, runId, shard, dispatchId, handOvers: 0 };
  });
  await engine.attempt(() => engine.queue.send(messages));
  await engine.attempt(() => engine.runs.markDispatched(run));
  return { status: 'started', run };
}

async function skip(engine: RunEngine, run: StoredRun): Promise<StartedRun> {
  const reason = 'another run of this action is still going';
  const at = engine.clock();
  const ended = await engine.attempt(() => engine.runs.end(run, { status: 'skipped', reason, at }));
  if (ended.status !== 'skipped') return { status: 'duplicate', run: ended };
  engine.onEnd(ended);
  return { status: 'skipped', run: ended };
}

async function newRun(engine: RunEngine, request: RunRequest): Promise<NewRun> {
  const { tick, overlap = 'skip' } = request;
  const agent = checkName('agent', request.agent);
  const action = checkName('action', request.action);
  const definition = engine.agents.get(agent);
  const actions = await actionNames(definition);
  if (!actions?.includes(action)) throw new UnknownActionError(agent, action, actions);
  if (tick !== undefined && Number.isNaN(tick.at.getTime()))
    throw new InvalidInputError('tick.at', 'is no time');
  const startedAt = engine.clock();
  // Null or nothing of another kind is not "all of them".
  const only = request.sessions === undefined ? undefined : checkSessions(request.sessions);
  return {
    runId: tick ? scheduledRunId(agent, tick.schedule, tick.at) : requestedRunId(startedAt, engine.newId()),
    ...{ agent, action, startedAt, overlap, only },
    trigger: tick ? ('schedule' as const) : ('request' as const),
    schedule: tick?.schedule,
    pending: only
      ? [...new Set(only.map((id) => shardOf(id, sessionShards)))].sort((a, b) => a - b)
      : Array.from({ length: sessionShards }, (_, shard) => shard),
  };
}

function checkSessions(sessions: readonly string[]): string[] {
  if (!Array.isArray(sessions) || sessions.length === 0 || sessions.length > runMaxSessions)
    throw new InvalidInputError('sessions', `must be an array of 1 to ${runMaxSessions} session ids`);
  const ids = sessions.map((id, index) => checkName(`sessions[${index}]`, id));
  return [...new Set(ids)].sort();
}
