import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import agentDefinitions from '#agents';
import type { AgentDefinition } from '../lib/agents/agent-definition.ts';
import { indexAgents } from '../lib/agents/define-agent.ts';
import { dynamoDbStore } from '../lib/dynamodb/dynamodb-store.ts';
import { snapshotsTable } from '../lib/dynamodb/tables.ts';
import { environment } from '../lib/environment.ts';
import type { SnapshotCatalog } from '../lib/persistence/snapshot-store.ts';

/** Everything a handler works with. Made once per process, on the first call; importing this file does nothing. */
export interface Services {
  readonly agents: ReadonlyMap<string, AgentDefinition>;
  readonly strictAgents: boolean;
  readonly tenantClaim: string | undefined;
  readonly store: SnapshotCatalog;
}

type Env = Readonly<Record<string, string | undefined>>;

function createServices(env: Env, definitions: readonly AgentDefinition[]): Services {
  let store: SnapshotCatalog | undefined;
  return {
    agents: indexAgents(definitions),
    strictAgents: env[environment.strictAgents] === 'true',
    tenantClaim: env[environment.tenantClaim] || undefined,
    // Lazily: a function without access to the table has no name of it, and needs none.
    get store() {
      store ??= dynamoDbStore({ client: createClient(), tableName: required(env, snapshotsTable.env) });
      return store;
    },
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
