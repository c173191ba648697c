import { Alarm, TreatMissingData } from 'aws-cdk-lib/aws-cloudwatch';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import type { Queue } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import type { FunctionName } from '../service-functions.ts';
import { type AlarmSpec, ofApi, ofFunctions, ofSnapshots, ofTable } from './alarm-specs.ts';
import { alarmTopic } from './alarm-topic.ts';
import { damagedSnapshots } from './damaged-snapshots.ts';
import type { ServiceApi } from './http-api.ts';
import { ofRunQueue, ofRuns, ofTickDeadLetters } from './run-alarm-specs.ts';
import type { RunQueue } from './run-queue.ts';
import type { ServiceFunction } from './service-function.ts';
import type { ServiceTable } from './tables.ts';

export interface Alarming {
  readonly functions: Readonly<Record<FunctionName, ServiceFunction>>;
  readonly tables: readonly ServiceTable[];
  readonly api: ServiceApi;
  readonly runQueue: RunQueue;
  readonly tickDeadLetters: Queue;
  /** Who is told. Without an address the alarms are there to be looked at. */
  readonly email: string | undefined;
}

/** One alarm for each thing that somebody has to look into, each naming the section of the runbook that says how. */
export class ServiceAlarms extends Construct {
  constructor(scope: Construct, id: string, watched: Alarming) {
    super(scope, id);
    const { functions, tables, api, runQueue, tickDeadLetters, email } = watched;
    const specs = [
      ...ofFunctions(functions),
      ...tables.flatMap(ofTable),
      ofApi(api),
      ofSnapshots(damagedSnapshots(this, Object.values(functions))),
      ofRuns(this),
      ...ofRunQueue(runQueue),
      ofTickDeadLetters(tickDeadLetters),
    ];
    const alarms = specs.map((spec) => this.#alarm(spec));
    if (email === undefined) return;
    const action = new SnsAction(alarmTopic(this, email));
    for (const alarm of alarms) alarm.addAlarmAction(action);
  }

  #alarm({ id, metric, threshold, means, section }: AlarmSpec): Alarm {
    return new Alarm(this, id, {
      metric,
      threshold,
      evaluationPeriods: 1,
      treatMissingData: TreatMissingData.NOT_BREACHING,
      alarmDescription: `${means} What to do: docs/runbook.md#${section}`,
    });
  }
}
