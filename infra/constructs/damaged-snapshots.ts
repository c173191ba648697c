import { Metric, Stats } from 'aws-cdk-lib/aws-cloudwatch';
import { FilterPattern, MetricFilter } from 'aws-cdk-lib/aws-logs';
import type { Construct } from 'constructs';
import type { ServiceFunction } from './service-function.ts';
import { metricNamespace } from './service-metrics.ts';

/** Counts the requests that met a snapshot, or a part of a memory, which is not what was stored, as the functions log them. */
export function damagedSnapshots(scope: Construct, functions: readonly ServiceFunction[]): Metric {
  const metric = { metricNamespace: metricNamespace(scope), metricName: 'DamagedSnapshots' };
  for (const fn of functions) {
    new MetricFilter(scope, `${fn.node.id}Damage`, {
      logGroup: fn.logGroup,
      filterPattern: FilterPattern.stringValue('$.code', '=', 'corrupt'),
      ...metric,
    });
  }
  return new Metric({
    namespace: metric.metricNamespace,
    metricName: metric.metricName,
    statistic: Stats.SUM,
  });
}
