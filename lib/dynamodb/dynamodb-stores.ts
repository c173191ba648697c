import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import type { Clock } from '../clock.ts';
import type { RuntimeStores } from '../runtime/create-runtime.ts';
import { dynamoDbMemoryStore } from './memory/store.ts';
import { dynamoDbCounters } from './sessions/counters.ts';
import { dynamoDbErrorLog } from './sessions/error-log.ts';
import { dynamoDbSessionStore } from './sessions/session-store.ts';

export interface DynamoDbStoresOptions {
  /** The table of sessions and memory, as its descriptor `sessionsTable` says, and that of errors, `errorsTable`. */
  readonly sessionsTable: string;
  readonly errorsTable: string;
  /** Without it, one is made from the environment. */
  readonly client?: DynamoDBClient | undefined;
  readonly clock?: Clock | undefined;
}

/**
 * Keeps sessions, memory and counters in one DynamoDB table, errors in another.
 *
 * @example
 * const stores = dynamoDbStores({ sessionsTable: 'dormouse-sessions', errorsTable: 'dormouse-errors' });
 * const runtime = createRuntime('support', { stores });
 */
export function dynamoDbStores(options: DynamoDbStoresOptions): RuntimeStores {
  const { sessionsTable, errorsTable, client = new DynamoDBClient({}), clock } = options;
  return {
    sessions: dynamoDbSessionStore(client, sessionsTable, clock),
    memory: dynamoDbMemoryStore({ client, tableName: sessionsTable, clock }),
    errors: dynamoDbErrorLog({ client, tableName: errorsTable }),
    counters: dynamoDbCounters(client, sessionsTable, { clock }),
  };
}
