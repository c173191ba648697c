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
}

export const snapshotsTable: TableDescriptor = {
  id: 'Snapshots',
  partitionKey: 'pk',
  sortKey: 'sk',
  ttl: 'ttl',
  env: 'DORMOUSE_SNAPSHOTS_TABLE',
};

export const tables: readonly TableDescriptor[] = [snapshotsTable];
