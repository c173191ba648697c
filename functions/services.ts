import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import agentDefinitions from '#agents';
import type { AgentDefinition } from '../lib/agents/agent-definition.ts';
import { indexAgents } from '../lib/agents/define-agent.ts';
import { dynamoDbCounters } from '../lib/dynamodb/counters.ts';
import { dynamoDbStore } from '../lib/dynamodb/dynamodb-store.ts';
import { dynamoDbErrorLog } from '../lib/dynamodb/error-log.ts';
import { dynamoDbMemoryStore } from '../lib/dynamodb/memory-store.ts';
import { dynamoDbSessionStore } from '../lib/dynamodb/session-store.ts';
import { errorsTable, sessionsTable, snapshotsTable, type TableDescriptor } from '../lib/dynamodb/tables.ts';
import { environment } from '../lib/environment.ts';
import type { SnapshotCatalog } from '../lib/persistence/snapshot-store.ts';
import type { RuntimeStores } from '../lib/sessions/create-runtime.ts';

/** Everything a handler works with. Made once per process, on the first call; importing this file does nothing. */
export interface Services {
  readonly agents: ReadonlyMap<string, AgentDefinition>;
  readonly strictAgents: boolean;
  readonly tenantClaim: string | undefined;
  readonly store: SnapshotCatalog;
  readonly stores: RuntimeStores;
}

type Env = Readonly<Record<string, string | undefined>>;

function createServices(env: Env, definitions: readonly AgentDefinition[]): Services {
  const client = once(createClient);
  const table = ({ env: name }: TableDescriptor) => required(env, name);
  // Each on first use: a function without access to a table has no name of it, and needs none.
  const store = once(() => dynamoDbStore({ client: client(), tableName: table(snapshotsTable) }));
  const sessions = once(() => dynamoDbSessionStore(client(), table(sessionsTable)));
  const memory = once(() => dynamoDbMemoryStore({ client: client(), tableName: table(sessionsTable) }));
  const errors = once(() => dynamoDbErrorLog({ client: client(), tableName: table(errorsTable) }));
  const counters = once(() => dynamoDbCounters(client(), table(sessionsTable)));
  return {
    agents: indexAgents(definitions),
    strictAgents: env[environment.strictAgents] === 'true',
    tenantClaim: env[environment.tenantClaim] || undefined,
    get store() {
      return store();
    },
    stores: {
      get sessions() {
        return sessions();
      },
      get memory() {
        return memory();
      },
      get errors() {
        return errors();
      },
      get counters() {
        return counters();
      },
    },
  };
}

function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}

/** Within the 29 seconds that API Gateway waits, a request that got no answer is worth another try. */
function createClient(): DynamoDBClient {
  return new DynamoDBClient({
    maxAttempts: 4,
    requestHandler: { connectionTimeout: 1_000, requestTimeout: 5_000, throwOnRequestTimeout: true },
  });
}

function required(env: Env, name: string): string {
  const value = env[name];
  if (!value) throw new Error(`the environment variable ${name} is not set`);
  return value;
}

let current: Services | undefined;

export function services(): Services {
  current ??= createServices(process.env, agentDefinitions);
  return current;
}

/** For a host that brings its own agents or store, such as the local server: before the first request. */
export function useServices(given: Services): void {
  current = given;
}
