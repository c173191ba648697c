import { RemovalPolicy } from 'aws-cdk-lib';
import { LogGroup, RetentionDays } from 'aws-cdk-lib/aws-logs';
import type { Construct } from 'constructs';

/**
 * A log group that is part of the stack, with a name made by CloudFormation: one under Lambda's automatic name would
 * collide with what a function's first run, or a destroyed stack, left there.
 */
export function serviceLogs(
  scope: Construct,
  id: string,
  { retain }: { readonly retain: boolean },
): LogGroup {
  return new LogGroup(scope, id, {
    retention: RetentionDays.ONE_MONTH,
    removalPolicy: retain ? RemovalPolicy.RETAIN : RemovalPolicy.DESTROY,
  });
}
