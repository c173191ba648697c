import {
  errorsTable,
  runsTable,
  sessionsTable,
  snapshotsTable,
  type TableDescriptor,
} from '../lib/dynamodb/tables.ts';
import type { Operation } from '../lib/http/routes.ts';
import type { Settings } from './settings.ts';

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

/**
 * `fallback` takes what no route does, `dispatch` the ticks of EventBridge, `work` the messages of the queue of runs.
 */
export type FunctionName =
  | Exclude<Operation, keyof typeof sharedFunctions>
  | (typeof sharedFunctions)[keyof typeof sharedFunctions]
  | 'fallback'
  | 'dispatch'
  | 'work';

/** Operations that share a function, and its role: those on one kind of thing. Each function costs nine resources. */
const sharedFunctions = {
  'list-capsules': 'capsules',
  compact: 'capsules',
  'list-user-data': 'values',
  'get-user-data': 'values',
  'set-user-data': 'values',
  'forget-user-data': 'values',
  'list-knowledge': 'values',
  'get-knowledge': 'values',
  learn: 'values',
  'forget-knowledge': 'values',
} as const satisfies Partial<Record<Operation, string>>;

/** The function that an operation's routes lead to. */
export function functionOf(operation: Operation): FunctionName {
  return isShared(operation) ? sharedFunctions[operation] : operation;
}

function isShared(operation: Operation): operation is keyof typeof sharedFunctions {
  return Object.hasOwn(sharedFunctions, operation);
}

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

/** The functions of the API's operations, an operation without one does not compile, and those behind it. */
export const serviceFunctions: Readonly<Record<FunctionName, ServiceFunctionDescriptor>> = {
  hibernate: {
    id: 'Hibernate',
    entry: 'functions/http/hibernate.ts',
    // Chunk rows are put and deleted, heads are updated; a refused commit is looked into by reading.
    access: [{ table: snapshotsTable, operations: ['GetItem', 'PutItem', 'UpdateItem', 'DeleteItem'] }],
    publishesMetrics: true,
  },
  thaw: {
    id: 'Thaw',
    entry: 'functions/http/thaw.ts',
    access: [{ table: snapshotsTable, operations: ['GetItem'] }],
  },
  forget: {
    id: 'Forget',
    entry: 'functions/http/forget.ts',
    access: [{ table: snapshotsTable, operations: ['GetItem', 'UpdateItem', 'DeleteItem'] }],
  },
  'list-instances': {
    id: 'ListInstances',
    entry: 'functions/http/list-instances.ts',
    access: [{ table: snapshotsTable, operations: ['Query'] }],
  },
  'list-agents': { id: 'ListAgents', entry: 'functions/http/list-agents.ts', access: [] },
  'describe-api': { id: 'DescribeApi', entry: 'functions/http/describe-api.ts', access: [] },
  'register-session': {
    id: 'RegisterSession',
    entry: 'functions/http/register-session.ts',
    access: [{ table: sessionsTable, operations: ['UpdateItem'] }],
  },
  'get-session': {
    id: 'GetSession',
    entry: 'functions/http/get-session.ts',
    access: [{ table: sessionsTable, operations: ['GetItem'] }],
  },
  'deregister-session': {
    id: 'DeregisterSession',
    entry: 'functions/http/deregister-session.ts',
    // With its memory: all rows of its partition are found without the index, and replaced; only requests are deleted.
    access: [{ table: sessionsTable, operations: ['GetItem', 'UpdateItem', 'DeleteItem', 'Query'] }],
  },
  'list-sessions': {
    id: 'ListSessions',
    entry: 'functions/http/list-sessions.ts',
    access: [{ table: sessionsTable, operations: ['Query'] }],
  },
  remember: {
    id: 'Remember',
    entry: 'functions/http/remember.ts',
    // Session, numbering and messages are updated, requests and chunk rows put; what is stored under an id is read by it.
    access: [{ table: sessionsTable, operations: ['GetItem', 'PutItem', 'UpdateItem'] }],
  },
  recent: {
    id: 'Recent',
    entry: 'functions/http/recent.ts',
    access: [{ table: sessionsTable, operations: ['GetItem'], indexOperations: ['Query'] }],
  },
  'forget-messages': {
    id: 'ForgetMessages',
    entry: 'functions/http/forget-messages.ts',
    // What capsules that are gone were made of is found without the index.
    access: [
      {
        table: sessionsTable,
        operations: ['GetItem', 'UpdateItem', 'DeleteItem', 'Query'],
        indexOperations: ['Query'],
      },
    ],
  },
  capsules: {
    id: 'Capsules',
    entry: 'functions/http/capsules.ts',
    // Its number is taken and messages replaced by updates, a large capsule and what came before it are put.
    access: [
      {
        table: sessionsTable,
        operations: ['GetItem', 'PutItem', 'UpdateItem'],
        indexOperations: ['Query'],
      },
    ],
  },
  'export-memory': {
    id: 'ExportMemory',
    entry: 'functions/http/export-memory.ts',
    // Messages and capsules are found through the index, values of users and the agent without it.
    access: [{ table: sessionsTable, operations: ['GetItem', 'Query'], indexOperations: ['Query'] }],
  },
  values: {
    id: 'Values',
    entry: 'functions/http/values.ts',
    // User data is put, knowledge updated, what is forgotten replaced by a marker; both are listed without the index.
    access: [{ table: sessionsTable, operations: ['GetItem', 'PutItem', 'UpdateItem', 'Query'] }],
  },
  'list-errors': {
    id: 'ListErrors',
    entry: 'functions/http/list-errors.ts',
    access: [{ table: errorsTable, operations: ['Query'] }],
  },
  'start-run': { id: 'StartRun', entry: 'functions/http/start-run.ts', ...startsRuns },
  'list-runs': {
    id: 'ListRuns',
    entry: 'functions/http/list-runs.ts',
    // The totals of a run that is going on are those of its shards' pages.
    access: [{ table: runsTable, operations: ['Query'], indexOperations: ['Query'] }],
  },
  'get-run': {
    id: 'GetRun',
    entry: 'functions/http/get-run.ts',
    access: [{ table: runsTable, operations: ['GetItem', 'Query'] }],
  },
  'list-jobs': {
    id: 'ListJobs',
    entry: 'functions/http/list-jobs.ts',
    access: [{ table: runsTable, operations: ['GetItem', 'Query'] }],
  },
  'list-schedules': { id: 'ListSchedules', entry: 'functions/http/list-schedules.ts', access: [] },
  fallback: { id: 'Fallback', entry: 'functions/http/fallback.ts', access: [] },
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

/** What a function may call under these settings. */
export function accessOf(name: FunctionName, { auth }: Pick<Settings, 'auth'>): readonly TableAccess[] {
  const { access, accessForTenants = [] } = serviceFunctions[name];
  const hasTenants = auth.kind === 'jwt' && auth.tenantClaim !== undefined;
  return hasTenants ? [...access, ...accessForTenants] : access;
}

export const functionNames = Object.keys(serviceFunctions) as readonly FunctionName[];

/** One thing for each function, under its name. */
export function perFunction<T>(make: (name: FunctionName) => T): Readonly<Record<FunctionName, T>> {
  return Object.fromEntries(functionNames.map((name) => [name, make(name)])) as Record<FunctionName, T>;
}
