import type { AttributeValue, DynamoDBClient } from '@aws-sdk/client-dynamodb';
import type { Clock } from '../../clock.ts';
import { runRetentionSecs } from '../../defaults.ts';
import { storeKeyScope } from '../../persistence/store-key.ts';
import { RunNotFoundError } from '../../runs/run-error.ts';
import type { RunRef, ShardRef } from '../../runs/run-store.ts';
import { checkedKey } from '../item.ts';
import { isConditionFailure } from '../translate-error.ts';
import { ttlIn } from '../ttl.ts';

export interface RunTable {
  readonly client: DynamoDBClient;
  readonly tableName: string;
  readonly clock: Clock;
}

/** All runs of an agent share a partition, in which they lie by time; each shard of a run has one of its own. */
export function runsKey(agent: string): string {
  return `runs/${storeKeyScope(agent)}`;
}

export const runSortKey = (runId: string) => `run/${runId}`;

export function runKey({ agent, runId }: RunRef) {
  return checkedKey(runsKey(agent), runSortKey(runId));
}

/** The runs of one action, by time, in the index. */
export function actionRunKey(action: string, runId: string): string {
  return `${storeKeyScope(action)}/${runId}`;
}

export function shardKey({ agent, runId, shard }: ShardRef): string {
  return `run/${storeKeyScope(agent, runId)}/${shard}`;
}

export const pagePrefix = 'page/';

/** Pages sort by their number. */
export function pageSortKey(page: number): string {
  return pagePrefix + String(page).padStart(9, '0');
}

export function runTtl({ clock }: RunTable): AttributeValue {
  return { N: String(ttlIn(clock(), runRetentionSecs)) };
}

/** Does a write that has a condition. Resolves `otherwise` when it does not hold. */
export async function onCondition<T>(write: () => Promise<T>, otherwise: () => Promise<T>): Promise<T> {
  try {
    return await write();
  } catch (error) {
    if (isConditionFailure(error)) return otherwise();
    throw error;
  }
}

export function foundRun<T>(run: T | undefined, { runId }: RunRef): T {
  if (run === undefined) throw new RunNotFoundError(runId);
  return run;
}
