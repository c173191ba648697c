import type { ApiFunction } from '../functions/http/description.ts';
import {
  errorsTable,
  runsTable,
  sessionsTable,
  snapshotsTable,
  type TableDescriptor,
} from '../lib/dynamodb/tables.ts';

/** Every DynamoDB operation that the code uses. */
export const tableOperations = ['GetItem', 'PutItem', 'UpdateItem', 'DeleteItem', 'Query'] as const;
export type TableOperation = (typeof tableOperations)[number];

/** A Lambda function, and every call that it makes: its role allows these and no other. */
export interface ServiceFunctionDescriptor {
  /** Also the construct id. */
  readonly id: string;
  /** Relative to the project. */
  readonly entry: string;
  readonly access: readonly TableAccess[];
  /** What it calls besides where callers have tenants. */
  readonly accessForTenants?: readonly TableAccess[];
  /** Sends messages to the queue of runs. */
  readonly sendsToRunQueue?: true;
  /** Writes metrics into its log. */
  readonly publishesMetrics?: true;
  /** Unless given, just under the 30 that API Gateway waits at the most. */
  readonly timeoutSecs?: number;
  /** Invoked asynchronously. */
  readonly takesEvents?: true;
}

/** Calls on a table itself, and on its local index: the one does not allow the other. */
export interface TableAccess {
  readonly table: TableDescriptor;
  readonly operations: readonly TableOperation[];
  readonly indexOperations?: readonly TableOperation[];
}

/** Those of the API, `dispatch` for the ticks of EventBridge, and `work` for the messages of the queue of runs. */
export type FunctionName = ApiFunction | 'dispatch' | 'work';

/** Everything that starting a run calls. */
const startsRuns: Pick<ServiceFunctionDescriptor, 'access' | 'sendsToRunQueue' | 'publishesMetrics'> = {
  // Records are put and updated, leases updated and deleted; what stands in the way of either is read.
  access: [{ table: runsTable, operations: ['GetItem', 'PutItem', 'UpdateItem', 'DeleteItem'] }],
  sendsToRunQueue: true,
  publishesMetrics: true,
};

/** What a function has, in megabytes. Memory is also processor time: below it, cold starts and compression take longer. */
export const functionMemoryMb = 1024;

/** What a worker has for a message: it hands the rest on in time, so that this only sets how often it does. */
export const workerTimeoutSecs = 300;

export const serviceFunctions: Readonly<Record<FunctionName, ServiceFunctionDescriptor>> = {
  hibernate: {
    id: 'Hibernate',
    entry: 'functions/http/instances/hibernate.ts',
    // Chunk rows are put and deleted, heads are updated; a refused commit is looked into by reading.
    access: [{ table: snapshotsTable, operations: ['GetItem', 'PutItem', 'UpdateItem', 'DeleteItem'] }],
    publishesMetrics: true,
  },
  thaw: {
    id: 'Thaw',
    entry: 'functions/http/instances/thaw.ts',
    access: [{ table: snapshotsTable, operations: ['GetItem'] }],
  },
  instances: {
    id: 'InstancesApi',
    entry: 'functions/http/instances/handler.ts',
    // They are forgotten, and listed.
    access: [{ table: snapshotsTable, operations: ['GetItem', 'UpdateItem', 'DeleteItem', 'Query'] }],
  },
  conversations: {
    id: 'ConversationsApi',
    entry: 'functions/http/conversations/handler.ts',
    // Messages and capsules are found through the index; what is forgotten with a session, and values, without it.
    access: [
      {
        table: sessionsTable,
        operations: ['GetItem', 'PutItem', 'UpdateItem', 'DeleteItem', 'Query'],
        indexOperations: ['Query'],
      },
    ],
  },
  runs: {
    id: 'RunsApi',
    entry: 'functions/http/runs/handler.ts',
    ...startsRuns,
    access: [
      // Runs are started, found through the index, and read with their jobs.
      {
        table: runsTable,
        operations: ['GetItem', 'PutItem', 'UpdateItem', 'DeleteItem', 'Query'],
        indexOperations: ['Query'],
      },
      { table: errorsTable, operations: ['Query'] },
    ],
  },
  api: { id: 'Api', entry: 'functions/http/api/handler.ts', access: [] },
  dispatch: {
    id: 'Dispatch',
    entry: 'functions/lifecycle/dispatch.ts',
    ...startsRuns,
    // Tenants are registered as sessions: a tick starts a run for each, and removes those that have none left.
    accessForTenants: [{ table: sessionsTable, operations: ['GetItem', 'UpdateItem', 'Query'] }],
    // The most that Lambda gives. A tick that has more tenants than fit in comes again, and finds most of them served.
    timeoutSecs: 900,
    takesEvents: true,
  },
  work: {
    id: 'Work',
    entry: 'functions/lifecycle/work.ts',
    access: [
      // Pages are put and queried, claims put and updated, runs and leases updated, leases deleted.
      { table: runsTable, operations: ['GetItem', 'PutItem', 'UpdateItem', 'DeleteItem', 'Query'] },
      // Everything that an action may do with sessions and memory.
      {
        table: sessionsTable,
        operations: ['GetItem', 'PutItem', 'UpdateItem', 'DeleteItem', 'Query'],
        indexOperations: ['Query'],
      },
      // An action thaws and hibernates instances as the API does, and forgets them.
      { table: snapshotsTable, operations: ['GetItem', 'PutItem', 'UpdateItem', 'DeleteItem'] },
      // Failures are put; what has rolled out of the log is queried and deleted.
      { table: errorsTable, operations: ['PutItem', 'DeleteItem', 'Query'] },
    ],
    sendsToRunQueue: true,
    publishesMetrics: true,
    // A session's time limit counts up to half of it; a message whose worker died comes again after six times as long.
    timeoutSecs: workerTimeoutSecs,
  },
};

/** What a function may call. */
export function accessOf(name: FunctionName, hasTenants: boolean): readonly TableAccess[] {
  const { access, accessForTenants = [] } = serviceFunctions[name];
  return hasTenants ? [...access, ...accessForTenants] : access;
}

export const functionNames = Object.keys(serviceFunctions) as readonly FunctionName[];

/** One thing for each function, under its name. */
export function perFunction<T>(make: (name: FunctionName) => T): Readonly<Record<FunctionName, T>> {
  return Object.fromEntries(functionNames.map((name) => [name, make(name)])) as Record<FunctionName, T>;
}
