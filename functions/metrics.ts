import { Metrics, MetricUnit } from '@aws-lambda-powertools/metrics';
import type { LifecycleJob } from '../lib/lifecycle/lifecycle-job.ts';
import type { Run } from '../lib/runs/run.ts';

let own: Metrics | undefined;

/**
 * One dimension, the service: agents' names are callers' to choose, and each would be a metric to pay for. Without a
 * namespace nobody collects metrics: then nothing is counted, and nothing printed.
 */
function metrics(): Metrics | undefined {
  if (own === undefined && process.env.POWERTOOLS_METRICS_NAMESPACE)
    own = new Metrics({ serviceName: 'dormouse' });
  return own;
}

/** Counts how a run ended. The names are those of infra's alarms and dashboard. */
export function noteRunEnd({ status, startedAt, finishedAt }: Run): void {
  if (status === 'skipped') metrics()?.addMetric('RunsSkipped', MetricUnit.Count, 1);
  if (status !== 'completed' && status !== 'failed') return;
  metrics()?.addMetric(status === 'completed' ? 'RunsCompleted' : 'RunsFailed', MetricUnit.Count, 1);
  if (finishedAt === undefined) return;
  metrics()?.addMetric('RunDuration', MetricUnit.Milliseconds, finishedAt.getTime() - startedAt.getTime());
}

/** Counts jobs as they are committed: those of a message that fails later count too, and do not come again. */
export function noteJobs(jobs: readonly LifecycleJob[]): void {
  const ok = jobs.filter((job) => job.ok).length;
  const failed = jobs.length - ok;
  if (ok > 0) metrics()?.addMetric('SessionsOk', MetricUnit.Count, ok);
  if (failed > 0) metrics()?.addMetric('SessionsFailed', MetricUnit.Count, failed);
}

/** The size of a state that was stored, as it came. */
export function noteHibernate(bytes: number): void {
  metrics()?.addMetric('HibernateBytes', MetricUnit.Bytes, bytes);
}

/** Writes what was counted as one line of the log, from which CloudWatch takes it. */
export function publishMetrics(): void {
  if (own?.hasStoredMetrics()) own.publishStoredMetrics();
}
