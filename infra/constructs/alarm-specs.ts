import { Duration } from 'aws-cdk-lib';
import { type IMetric, MathExpression, type Metric } from 'aws-cdk-lib/aws-cloudwatch';
import { tableOperations } from '../service-functions.ts';
import type { ServiceApi } from './http-api.ts';
import type { ServiceFunction } from './service-function.ts';
import type { ServiceTable } from './tables.ts';

/** Something that somebody has to look into. */
export interface AlarmSpec {
  readonly id: string;
  readonly metric: IMetric;
  /** From this value of the metric on. */
  readonly threshold: number;
  readonly means: string;
  /** A section of docs/runbook.md. */
  readonly section: string;
}

/** The sum of what happened in that time. */
const fiveMinutes = { period: Duration.minutes(5), statistic: 'Sum' };

export function ofFunction(fn: ServiceFunction): AlarmSpec[] {
  const { id } = fn.node;
  return [
    {
      id: `${id}Errors`,
      metric: fn.metricErrors(fiveMinutes),
      threshold: 1,
      means: `${id} crashed, ran out of memory or out of time.`,
      section: 'function-errors',
    },
    {
      id: `${id}Throttles`,
      metric: fn.metricThrottles(fiveMinutes),
      threshold: 1,
      means: `Lambda refused to run ${id} more often at the same time.`,
      section: 'function-throttles',
    },
  ];
}

export function ofTable(table: ServiceTable): AlarmSpec[] {
  const { id } = table.node;
  const throttles = (kind: 'Read' | 'Write'): AlarmSpec => ({
    id: `${id}${kind}Throttles`,
    metric: table.metric(`${kind}ThrottleEvents`, fiveMinutes),
    // The SDK tries again by itself: a few cost time, not requests.
    threshold: 50,
    means: `DynamoDB throttled ${kind.toLowerCase()}s of the table ${id}.`,
    section: 'table-throttles',
  });
  return [
    throttles('Read'),
    throttles('Write'),
    {
      id: `${id}SystemErrors`,
      metric: sumOf(
        tableOperations.map((Operation) =>
          table.metric('SystemErrors', {
            ...fiveMinutes,
            dimensionsMap: { TableName: table.tableName, Operation },
          }),
        ),
      ),
      threshold: 10,
      means: `DynamoDB failed to serve the table ${id}.`,
      section: 'table-errors',
    },
  ];
}

export function ofApi({ api }: ServiceApi): AlarmSpec {
  return {
    id: 'ApiServerErrors',
    metric: api.metricServerError(fiveMinutes),
    threshold: 5,
    means: 'The API answered with 5xx.',
    section: 'api-server-errors',
  };
}

export function ofSnapshots(damaged: Metric): AlarmSpec {
  return {
    id: 'DamagedSnapshots',
    metric: damaged,
    threshold: 1,
    means: 'A stored snapshot, or a part of a memory, is not what was stored.',
    section: 'damaged-snapshots',
  };
}

/** An operation that had no error has no data points, which would leave the sum without one too. */
function sumOf(metrics: readonly IMetric[]): MathExpression {
  const usingMetrics = Object.fromEntries(metrics.map((metric, index) => [`m${index}`, metric]));
  const terms = Object.keys(usingMetrics).map((name) => `FILL(${name}, 0)`);
  return new MathExpression({
    expression: terms.join(' + '),
    usingMetrics,
    period: fiveMinutes.period,
    label: 'errors',
  });
}
