import { Duration } from 'aws-cdk-lib';
import type { Queue } from 'aws-cdk-lib/aws-sqs';
import type { Construct } from 'constructs';
import type { AlarmSpec } from './alarm-specs.ts';
import type { RunQueue } from './run-queue.ts';
import { serviceMetric } from './service-metrics.ts';

const period = Duration.minutes(5);

export function ofRuns(scope: Construct): AlarmSpec {
  return {
    id: 'FailedRuns',
    metric: serviceMetric(scope, 'RunsFailed', { period, statistic: 'Sum' }),
    threshold: 1,
    means: 'A run did not get through all of its sessions.',
    section: 'failed-runs',
  };
}

export function ofRunQueue(queue: RunQueue): AlarmSpec[] {
  return [
    {
      id: 'RunDeadLetters',
      metric: queue.deadLetters.metricApproximateNumberOfMessagesVisible({ period }),
      threshold: 1,
      means: 'A shard of a run failed as often as it is tried, and was given up.',
      section: 'run-dead-letters',
    },
    {
      id: 'RunQueueAge',
      metric: queue.metricApproximateAgeOfOldestMessage({ period }),
      // A message whose worker died comes again after half of that: this old, it has failed twice or finds no worker.
      threshold: Duration.hours(1).toSeconds(),
      means: 'A shard of a run has been waiting for a worker, or failing, for an hour.',
      section: 'waiting-runs',
    },
  ];
}

export function ofTickDeadLetters(deadLetters: Queue): AlarmSpec {
  return {
    id: 'TickDeadLetters',
    metric: deadLetters.metricApproximateNumberOfMessagesVisible({ period }),
    threshold: 1,
    means: 'A schedule fired, and its run could not be started.',
    section: 'tick-dead-letters',
  };
}
