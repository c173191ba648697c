import { RemovalPolicy } from 'aws-cdk-lib';
import {
  AttributeType,
  Billing,
  type CfnGlobalTable,
  ProjectionType,
  TableV2,
} from 'aws-cdk-lib/aws-dynamodb';
import { Grant } from 'aws-cdk-lib/aws-iam';
import type { Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import type { Construct } from 'constructs';
import type { TableDescriptor } from '../../lib/dynamodb/tables.ts';
import type { TableAccess, TableOperation } from '../service-functions.ts';

/** A table as its descriptor says: on demand, restorable to any second of the last 35 days, without a fixed name. */
export class ServiceTable extends TableV2 {
  readonly #descriptor: TableDescriptor;

  constructor(scope: Construct, descriptor: TableDescriptor, { retain }: { readonly retain: boolean }) {
    const { localIndex } = descriptor;
    super(scope, descriptor.id, {
      partitionKey: { name: descriptor.partitionKey, type: AttributeType.STRING },
      sortKey: { name: descriptor.sortKey, type: AttributeType.STRING },
      ...(localIndex && {
        localSecondaryIndexes: [
          {
            indexName: localIndex.name,
            sortKey: { name: localIndex.sortKey, type: AttributeType.STRING },
            projectionType: ProjectionType.ALL,
          },
        ],
      }),
      timeToLiveAttribute: descriptor.ttl,
      billing: Billing.onDemand(),
      pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true },
      deletionProtection: retain,
      removalPolicy: retain ? RemovalPolicy.RETAIN : RemovalPolicy.DESTROY,
    });
    this.#descriptor = descriptor;
    // A name of its own in the template: moving the construct can then not replace the table.
    (this.node.defaultChild as CfnGlobalTable).overrideLogicalId(`${descriptor.id}Table`);
  }

  /** Lets the function make these calls on the table and on its index, and tells it the table's name. */
  grantAccess(fn: LambdaFunction, { operations, indexOperations = [] }: Omit<TableAccess, 'table'>): void {
    const { id, env, localIndex } = this.#descriptor;
    if (operations.length > 0) allow(fn, operations, this.tableArn);
    if (indexOperations.length > 0) {
      if (localIndex === undefined) throw new Error(`the table ${id} has no index`);
      allow(fn, indexOperations, `${this.tableArn}/index/${localIndex.name}`);
    }
    fn.addEnvironment(env, this.tableName);
  }
}

/** Not `TableV2.grant`: on a table with an index that one allows every call on the table and on all of its indexes. */
function allow(grantee: LambdaFunction, operations: readonly TableOperation[], arn: string): void {
  const actions = operations.map((operation) => `dynamodb:${operation}`);
  Grant.addToPrincipal({ grantee, actions, resourceArns: [arn] });
}
