import { Duration } from 'aws-cdk-lib';
import { Dashboard, GraphWidget, type IMetric, type IWidget } from 'aws-cdk-lib/aws-cloudwatch';
import { Construct } from 'constructs';
import type { Alarming } from './alarms.ts';
import { type ServiceMetricName, serviceMetric } from './service-metrics.ts';

const period = Duration.minutes(5);
const sum = { period, statistic: 'Sum' };
const at = (statistic: string) => ({ period, statistic, label: statistic });

/** What the service does, on one page: runs, their queue, the API, the functions, the tables. */
export class ServiceDashboard extends Construct {
  readonly name: string;

  constructor(scope: Construct, id: string, watched: Omit<Alarming, 'email'>) {
    super(scope, id);
    const dashboard = new Dashboard(this, 'Dashboard', {
      widgets: [this.#runs(), queues(watched), this.#api(watched), functions(watched), tables(watched)],
    });
    this.name = dashboard.dashboardName;
  }

  #runs(): IWidget[] {
    const counts = (...names: ServiceMetricName[]) => names.map((name) => serviceMetric(this, name, sum));
    return [
      graph('Runs that ended', counts('RunsCompleted', 'RunsFailed', 'RunsSkipped')),
      graph(
        'Run duration (ms)',
        ['p50', 'Maximum'].map((statistic) => serviceMetric(this, 'RunDuration', at(statistic))),
      ),
      graph('Sessions visited', counts('SessionsOk', 'SessionsFailed')),
    ];
  }

  #api({ api: { api } }: Pick<Alarming, 'api'>): IWidget[] {
    return [
      graph('Requests', [api.metricCount(sum), api.metricClientError(sum), api.metricServerError(sum)]),
      graph(
        'Latency (ms)',
        ['p50', 'p99'].map((statistic) => api.metricLatency(at(statistic))),
      ),
      graph('Bytes hibernated', [serviceMetric(this, 'HibernateBytes', sum)]),
    ];
  }
}

function queues({ runQueue, tickDeadLetters }: Pick<Alarming, 'runQueue' | 'tickDeadLetters'>): IWidget[] {
  const { deadLetters } = runQueue;
  return [
    graph('Shards in the queue', [
      runQueue.metricApproximateNumberOfMessagesVisible({ period, label: 'waiting' }),
      runQueue.metricApproximateNumberOfMessagesNotVisible({ period, label: 'at a worker' }),
    ]),
    graph('Age of the oldest shard (s)', [runQueue.metricApproximateAgeOfOldestMessage({ period })]),
    graph('Dead letters', [
      deadLetters.metricApproximateNumberOfMessagesVisible({ period, label: 'shards' }),
      tickDeadLetters.metricApproximateNumberOfMessagesVisible({ period, label: 'ticks' }),
    ]),
  ];
}

function functions({ functions: byName }: Pick<Alarming, 'functions'>): IWidget[] {
  const all = Object.values(byName);
  return [
    graph(
      'Function errors',
      all.map((fn) => fn.metricErrors({ ...sum, label: fn.node.id })),
    ),
    graph(
      'Function throttles',
      all.map((fn) => fn.metricThrottles({ ...sum, label: fn.node.id })),
    ),
    graph(
      'Function duration, p99 (ms)',
      all.map((fn) => fn.metricDuration({ ...at('p99'), label: fn.node.id })),
    ),
  ];
}

function tables({ tables: all }: Pick<Alarming, 'tables'>): IWidget[] {
  const ofAll = (metricName: string) =>
    all.map((table) => table.metric(metricName, { ...sum, label: table.node.id }));
  return [
    graph('Table read throttles', ofAll('ReadThrottleEvents')),
    graph('Table write throttles', ofAll('WriteThrottleEvents')),
    graph('Write units used', ofAll('ConsumedWriteCapacityUnits')),
  ];
}

/** Three of them fill a row. */
function graph(title: string, left: IMetric[]): GraphWidget {
  return new GraphWidget({ title, left, width: 8, height: 6, leftYAxis: { min: 0 } });
}
