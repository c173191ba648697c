import { Stack } from 'aws-cdk-lib';
import { Metric, type MetricOptions } from 'aws-cdk-lib/aws-cloudwatch';
import type { Construct } from 'constructs';

/** What the functions count themselves, by its name in functions/metrics.ts, under the dimension that is set there. */
export type ServiceMetricName =
  | 'RunsCompleted'
  | 'RunsFailed'
  | 'RunsSkipped'
  | 'RunDuration'
  | 'SessionsOk'
  | 'SessionsFailed'
  | 'HibernateBytes';

export function serviceMetric(
  scope: Construct,
  metricName: ServiceMetricName,
  options: MetricOptions,
): Metric {
  return new Metric({
    namespace: metricNamespace(scope),
    metricName,
    dimensionsMap: { service: 'dormouse' },
    ...options,
  });
}

/** Tells the metrics of several stages in one account apart. */
export function metricNamespace(scope: Construct): string {
  return Stack.of(scope).stackName;
}
