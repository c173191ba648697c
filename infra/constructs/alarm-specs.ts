import { Duration } from 'aws-cdk-lib';
import { type IMetric, MathExpression, type Metric } from 'aws-cdk-lib/aws-cloudwatch';
import { type FunctionName, tableOperations } from '../service-functions.ts';
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

/** Those of the API ring together, as its callers are told of each failure; the others have nobody who waits for them. */
export function ofFunctions({
  dispatch,
  work,
  ...ofApi
}: Readonly<Record<FunctionName, ServiceFunction>>): AlarmSpec[] {
  const errors = (id: string, what: string, functions: readonly ServiceFunction[]): AlarmSpec => ({
    id: `${id}Errors`,
    metric: sumOf(functions.map((fn) => fn.metricErrors(fiveMinutes))),
    threshold: 1,
    means: `${what} crashed, ran out of memory or out of time.`,
    section: 'function-errors',
  });
  const all = [...Object.values(ofApi), dispatch, work];
  return [
    errors('ApiFunction', 'A function of the API', Object.values(ofApi)),
    errors('Dispatch', 'Dispatch', [dispatch]),
    errors('Work', 'Work', [work]),
    {
      id: 'FunctionThrottles',
      metric: sumOf(all.map((fn) => fn.metricThrottles(fiveMinutes))),
      threshold: 1,
      means: 'Lambda refused to run a function more often at the same time.',
      section: 'function-throttles',
    },
  ];
}

export function ofTable(table: ServiceTable): AlarmSpec[] {
  const { id } = table.node;
  return [
    {
      id: `${id}Throttles`,
      metric: sumOf(
        ['ReadThrottleEvents', 'WriteThrottleEvents'].map((name) => table.metric(name, fiveMinutes)),
      ),
      // The SDK tries again by itself: a few cost time, not requests.
      threshold: 50,
      means: `DynamoDB throttled reads or writes of the table ${id}.`,
      section: 'table-throttles',
    },
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

/** One alarm for several metrics. What did not happen has no data points, which would leave the sum without one too. */
function sumOf(metrics: readonly IMetric[]): IMetric {
  const [only, ...others] = metrics;
  if (only !== undefined && others.length === 0) return only;
  const usingMetrics = Object.fromEntries(metrics.map((metric, index) => [`m${index}`, metric]));
  const terms = Object.keys(usingMetrics).map((name) => `FILL(${name}, 0)`);
  return new MathExpression({
    expression: terms.join(' + '),
    usingMetrics,
    period: fiveMinutes.period,
    label: 'in all',
  });
}
