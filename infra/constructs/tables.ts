import { RemovalPolicy } from 'aws-cdk-lib';
import { AttributeType, Billing, type CfnGlobalTable, TableV2 } from 'aws-cdk-lib/aws-dynamodb';
import type { Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import type { Construct } from 'constructs';
import type { TableDescriptor } from '../../lib/dynamodb/tables.ts';
import type { TableOperation } from '../service-functions.ts';

/** A table as its descriptor says: on demand, restorable to any second of the last 35 days, without a fixed name. */
export class ServiceTable extends TableV2 {
  readonly #env: string;

  constructor(scope: Construct, descriptor: TableDescriptor, { retain }: { readonly retain: boolean }) {
    super(scope, descriptor.id, {
      partitionKey: { name: descriptor.partitionKey, type: AttributeType.STRING },
      sortKey: { name: descriptor.sortKey, type: AttributeType.STRING },
      timeToLiveAttribute: descriptor.ttl,
      billing: Billing.onDemand(),
      pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true },
      deletionProtection: retain,
      removalPolicy: retain ? RemovalPolicy.RETAIN : RemovalPolicy.DESTROY,
    });
    this.#env = descriptor.env;
    // A name of its own in the template: moving the construct can then not replace the table.
    (this.node.defaultChild as CfnGlobalTable).overrideLogicalId(`${descriptor.id}Table`);
  }

  /** Lets the function make these calls on the table, and tells it the table's name. */
  grantOperations(fn: LambdaFunction, operations: readonly TableOperation[]): void {
    this.grant(fn, ...operations.map((operation) => `dynamodb:${operation}`));
    fn.addEnvironment(this.#env, this.tableName);
  }
}
