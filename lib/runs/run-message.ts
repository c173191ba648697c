import { sessionShards } from '../defaults.ts';
import { InvalidRunMessageError } from './run-error.ts';
import { isRunId } from './run-id.ts';
import type { ShardClaim, ShardRef } from './run-store.ts';

/** One shard of one run, for a worker. */
export interface RunMessage extends ShardRef, ShardClaim {
  readonly v: 1;
  /** Set: no work, but a look at whether the run is still going (see watch-run.ts). */
  readonly watch?: RunWatch | undefined;
}

/** What the last looks at a run have seen. */
export interface RunWatch {
  /** How far its shards were. */
  readonly seen: string;
  /** How many looks in a row have seen that. */
  readonly looks: number;
}

/** As it goes into a queue. The names of its fields are a promise: messages of earlier releases may still lie there. */
export function formatRunMessage({ dispatchId, handOvers, ...message }: RunMessage): string {
  return JSON.stringify({ ...message, token: dispatchId, hop: handOvers });
}

/**
 * A message as it came out of a queue.
 *
 * @throws InvalidRunMessageError when it is not one of ours
 */
export function parseRunMessage(body: string): RunMessage {
  const message = parsed(body);
  const { v, agent, runId, shard, token: dispatchId, hop: handOvers, watch } = message;
  if (v !== 1) throw new InvalidRunMessageError('the message has another format');
  if (
    typeof agent !== 'string' ||
    typeof runId !== 'string' ||
    !isRunId(runId) ||
    typeof dispatchId !== 'string'
  )
    throw new InvalidRunMessageError('the message names no run');
  if (!isWhole(shard) || shard >= sessionShards || !isWhole(handOvers))
    throw new InvalidRunMessageError('the message names no shard');
  return {
    v,
    agent,
    runId,
    shard,
    dispatchId,
    handOvers,
    ...(watch !== undefined && { watch: parseWatch(watch) }),
  };
}

function parseWatch(watch: unknown): RunWatch {
  const { seen, looks } = (watch ?? {}) as Record<string, unknown>;
  if (typeof seen !== 'string' || !isWhole(looks))
    throw new InvalidRunMessageError('the message does not say what was seen');
  return { seen, looks };
}

function parsed(body: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(body);
    if (typeof value === 'object' && value !== null) return value as Record<string, unknown>;
  } catch (error) {
    throw new InvalidRunMessageError('the message is not JSON', { cause: error });
  }
  throw new InvalidRunMessageError('the message is not an object');
}

function isWhole(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
}
