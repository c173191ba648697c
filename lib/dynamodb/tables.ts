/** A table as both the stack and the local server make it, and as the code finds it. Imports no SDK and no CDK. */
export interface TableDescriptor {
  /** Also the construct id: changing it, or a key, would replace the table and lose what it holds. */
  readonly id: string;
  readonly partitionKey: string;
  readonly sortKey: string;
  /** Epoch seconds after which DynamoDB may delete the item. */
  readonly ttl: string;
  /** The environment variable that carries the table's name. */
  readonly env: string;
  /** A second order of the items of a partition, with all their attributes. It can only be made with the table. */
  readonly localIndex?: { readonly name: string; readonly sortKey: string };
}

export const snapshotsTable: TableDescriptor = {
  id: 'Snapshots',
  partitionKey: 'pk',
  sortKey: 'sk',
  ttl: 'ttl',
  env: 'DORMOUSE_SNAPSHOTS_TABLE',
};

/** Sessions, and what agents remember of them. */
export const sessionsTable: TableDescriptor = {
  id: 'Sessions',
  partitionKey: 'pk',
  sortKey: 'sk',
  ttl: 'ttl',
  env: 'DORMOUSE_SESSIONS_TABLE',
  localIndex: { name: 'byPlace', sortKey: 'place' },
};

export const errorsTable: TableDescriptor = {
  id: 'Errors',
  partitionKey: 'pk',
  sortKey: 'sk',
  ttl: 'ttl',
  env: 'DORMOUSE_ERRORS_TABLE',
};

/** Runs, their jobs and leases. */
export const runsTable: TableDescriptor = {
  id: 'Runs',
  partitionKey: 'pk',
  sortKey: 'sk',
  ttl: 'ttl',
  env: 'DORMOUSE_RUNS_TABLE',
  localIndex: { name: 'byAction', sortKey: 'actionRun' },
};

/** What is deployed. */
export const tables: readonly TableDescriptor[] = [snapshotsTable, sessionsTable, errorsTable, runsTable];
