import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { type Clock, systemClock } from '../clock.ts';
import type { RunLeases } from '../runs/run-leases.ts';
import type { RunStore } from '../runs/run-store.ts';
import { dynamoDbRunLeases } from './runs/leases.ts';
import { dynamoDbRunStore } from './runs/store.ts';

export interface DynamoDbRunsOptions {
  /** The table of runs, as its descriptor `runsTable` says. */
  readonly runsTable: string;
  /** Without it, one is made from the environment. */
  readonly client?: DynamoDBClient | undefined;
  readonly clock?: Clock | undefined;
}

/**
 * Keeps runs, their jobs and leases in a DynamoDB table.
 *
 * @example
 * const engine = runEngine({ agents, stores, queue, ...dynamoDbRuns({ runsTable: 'dormouse-runs' }) });
 */
export function dynamoDbRuns(options: DynamoDbRunsOptions): {
  readonly runs: RunStore;
  readonly leases: RunLeases;
} {
  const { runsTable: tableName, client = new DynamoDBClient({}), clock = systemClock } = options;
  const table = { client, tableName, clock };
  return { runs: dynamoDbRunStore(table), leases: dynamoDbRunLeases(table) };
}
