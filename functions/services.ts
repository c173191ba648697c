import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import agentDefinitions from '#agents';
import { tellActionNames } from '../lib/agents/actions.ts';
import type { AgentDefinition } from '../lib/agents/agent-definition.ts';
import { indexAgents } from '../lib/agents/define-agent.ts';
import { dynamoDbStore } from '../lib/dynamodb/dynamodb-store.ts';
import { snapshotsTable, type TableDescriptor } from '../lib/dynamodb/tables.ts';
import { environment } from '../lib/environment.ts';
import type { JobLogger } from '../lib/lifecycle/session-job.ts';
import type { PersistenceConfig } from '../lib/persistence/persistence-config.ts';
import type { SnapshotCatalog } from '../lib/persistence/snapshot-store.ts';
import type { Overlap } from '../lib/runs/run.ts';
import type { RunLeases } from '../lib/runs/run-leases.ts';
import type { RunQueue } from '../lib/runs/run-queue.ts';
import type { RunStore } from '../lib/runs/run-store.ts';
import type { RuntimeStores } from '../lib/runtime/create-runtime.ts';

/** Everything a handler works with. Made once per process, on the first call; importing this file does nothing. */
export interface Services {
  readonly agents: ReadonlyMap<string, AgentDefinition>;
  readonly strictAgents: boolean;
  readonly tenantClaim: string | undefined;
  readonly store: SnapshotCatalog;
  /** Set by a host that brings its own; the functions make theirs in runtime-stores.ts, which the hot path does not load. */
  readonly stores?: RuntimeStores | undefined;
  /** Likewise; the functions' own are in lifecycle-engine.ts. */
  readonly lifecycle?: LifecycleStores | undefined;
  /** What happens to a run while another one of its action is still going: `skip` unless given. */
  readonly overlap?: Overlap | undefined;
  /** Aborted when a host is about to end: its workers then hand on what they have not begun. */
  readonly stop?: AbortSignal | undefined;
  /** Where actions and the engine write, in place of the log of the functions: for a host with a console. */
  readonly logger?: JobLogger | undefined;
  /** Told why a request failed, for a host whose reader may see what callbacks say. */
  readonly onRequestFailed?: ((error: unknown) => void) | undefined;
  /** Whether callers are shown the stacks of the error log: they are unless it is false. */
  readonly showStacks?: boolean | undefined;
  /** Told why a message failed, for a host that is the queue as well: the worker's answer says only which. */
  readonly onMessageFailed?: ((error: unknown) => void) | undefined;
}

export interface LifecycleStores {
  readonly runs: RunStore;
  readonly leases: RunLeases;
  readonly queue: RunQueue;
}

/** Where the instances of a scope are kept. */
export function persistenceOf({ store }: Services, scope: string): PersistenceConfig<SnapshotCatalog> {
  return { store, keyFn: (_agent, key) => `${scope}/${key}` };
}

type Env = Readonly<Record<string, string | undefined>>;

function createServices(env: Env, definitions: readonly AgentDefinition[]): Services {
  const agents = indexAgents(definitions);
  for (const [name, actions] of Object.entries(toldActionNames())) {
    const definition = agents.get(name);
    if (definition !== undefined) tellActionNames(definition, actions);
  }
  let store: SnapshotCatalog | undefined;
  return {
    agents,
    strictAgents: env[environment.strictAgents] === 'true',
    showStacks: env[environment.showStacks] !== 'false',
    tenantClaim: env[environment.tenantClaim] || undefined,
    overlap: env[environment.overlap] === 'allow' ? 'allow' : 'skip',
    // On first use: a function without access to the table has no name of it, and needs none.
    get store() {
      store ??= dynamoDbStore({ client: dynamoDb(), tableName: tableNameOf(snapshotsTable, env) });
      return store;
    },
  };
}

/** Where the bundler knows which actions there are, it has written it in this place (see infra/bundling.ts). */
function toldActionNames(): Readonly<Record<string, readonly string[]>> {
  return JSON.parse(process.env.DORMOUSE_ACTION_NAMES ?? '{}');
}

let client: DynamoDBClient | undefined;

/** The process's one client, so that its connections are used again. */
export function dynamoDb(): DynamoDBClient {
  client ??= new DynamoDBClient(clientSettings);
  return client;
}

/** Within the 29 seconds that API Gateway waits, a request that got no answer is worth another try. */
export const clientSettings = {
  maxAttempts: 4,
  requestHandler: { connectionTimeout: 1_000, requestTimeout: 5_000, throwOnRequestTimeout: true },
};

export function tableNameOf({ env: name }: TableDescriptor, env: Env = process.env): string {
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
