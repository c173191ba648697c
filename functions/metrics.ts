import { Metrics, MetricUnit } from '@aws-lambda-powertools/metrics';
import type { Run } from '../lib/runs/run.ts';
import type { ShardWork } from '../lib/runs/work-shard.ts';

let own: Metrics | undefined;

/** One dimension, the service: agents' names are callers' to choose, and each would be a metric to pay for. */
function metrics(): Metrics {
  own ??= new Metrics({ serviceName: 'dormouse' });
  return own;
}

/** Counts how a run ended. The names are those of infra's alarms and dashboard. */
export function noteRunEnd({ status, startedAt, finishedAt }: Run): void {
  if (status === 'skipped') metrics().addMetric('RunsSkipped', MetricUnit.Count, 1);
  if (status !== 'completed' && status !== 'failed') return;
  metrics().addMetric(status === 'completed' ? 'RunsCompleted' : 'RunsFailed', MetricUnit.Count, 1);
  if (finishedAt === undefined) return;
  metrics().addMetric('RunDuration', MetricUnit.Milliseconds, finishedAt.getTime() - startedAt.getTime());
}

export function noteSessions({ ok, failed }: ShardWork): void {
  if (ok > 0) metrics().addMetric('SessionsOk', MetricUnit.Count, ok);
  if (failed > 0) metrics().addMetric('SessionsFailed', MetricUnit.Count, failed);
}

/** The size of a state that was stored, as it came. */
export function noteHibernate(bytes: number): void {
  metrics().addMetric('HibernateBytes', MetricUnit.Bytes, bytes);
}

/** Writes what was counted as one line of the log, from which CloudWatch takes it. */
export function publishMetrics(): void {
  if (own?.hasStoredMetrics()) own.publishStoredMetrics();
}
