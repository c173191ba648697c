import { Annotations, Aws, CfnOutput, Stack } from 'aws-cdk-lib';
import type { Construct } from 'constructs';
import { tables } from '../lib/dynamodb/tables.ts';
import { environment } from '../lib/environment.ts';
import type { AgentSchedule } from './agent-schedules.ts';
import { ServiceAlarms } from './constructs/alarms.ts';
import { ServiceDashboard } from './constructs/dashboard.ts';
import { ServiceApi } from './constructs/http-api.ts';
import { RunQueue } from './constructs/run-queue.ts';
import { Schedules } from './constructs/schedules.ts';
import { ServiceFunction } from './constructs/service-function.ts';
import { metricNamespace } from './constructs/service-metrics.ts';
import { ServiceTable } from './constructs/tables.ts';
import { grantWorker, workerEnvironment } from './constructs/worker-access.ts';
import { lazyModules } from './lazy-modules.ts';
import {
  accessOf,
  type FunctionName,
  functionMemoryMb,
  functionNames,
  perFunction,
  serviceFunctions,
} from './service-functions.ts';
import type { Settings } from './settings.ts';

export interface DormouseStackProps extends Settings {
  /** Those of the agents module, which only its loader can read. */
  readonly schedules: readonly AgentSchedule[];
  /** The actions of each agent. */
  readonly actionNames: Readonly<Record<string, readonly string[]>>;
  /** When this is, for schedules that are over by then: the time of synthesis unless given. */
  readonly now?: Date | undefined;
}

/** Everything that a deployment of Dormouse consists of. Bound to no account and no region. */
export class DormouseStack extends Stack {
  constructor(scope: Construct, id: string, settings: DormouseStackProps) {
    super(scope, id, {
      stackName: `dormouse-${settings.stage}`,
      description: 'Dormouse: puts AI agents to sleep and wakes them up again',
    });

    const stored = new Map(
      tables.map((descriptor) => [descriptor, new ServiceTable(this, descriptor, settings)]),
    );
    for (const { id: warning, text } of settings.warnings) Annotations.of(this).addWarningV2(warning, text);
    const tenantClaim = tenantClaimOf(settings);
    const lazy = lazyModules(settings.agents);
    const functions = perFunction((name) => this.#function(name, settings, lazy));
    const { dispatch, work } = functions;
    grantWorker(work, settings.worker);
    const queue = new RunQueue(this, 'RunQueue', { worker: work });
    for (const name of functionNames) {
      for (const access of accessOf(name, tenantClaim !== undefined)) {
        stored.get(access.table)?.grantAccess(functions[name], access);
      }
      if (serviceFunctions[name].sendsToRunQueue) queue.grantSend(functions[name]);
    }
    const { schedules, now = new Date() } = settings;
    const ticks = new Schedules(this, 'Schedules', { schedules, dispatcher: dispatch, now });
    const api = new ServiceApi(this, 'HttpApi', functions, settings);
    const watched = {
      functions,
      tables: [...stored.values()],
      api,
      runQueue: queue,
      tickDeadLetters: ticks.deadLetters,
    };
    new ServiceAlarms(this, 'Alarms', { ...watched, email: settings.alarmEmail });
    const dashboard = new ServiceDashboard(this, 'Dashboard', watched);

    this.#output('ApiUrl', api.api.apiEndpoint, 'Where the API is');
    if (settings.auth.kind === 'iam') {
      const arn = api.api.arnForExecuteApi(undefined, undefined, '$default');
      this.#output('ApiArn', arn, 'What IAM policies of callers name: this ARN, or narrower METHOD/path');
    }
    for (const [{ id: tableId }, table] of stored) this.#output(`${tableId}TableName`, table.tableName);
    for (const fn of Object.values(functions))
      this.#output(`${fn.node.id}LogGroup`, fn.logGroup.logGroupName);
    this.#output('RunQueueUrl', queue.queueUrl);
    this.#output('RunDeadLettersUrl', queue.deadLetters.queueUrl);
    this.#output('TickDeadLettersUrl', ticks.deadLetters.queueUrl);
    this.#output('DispatchFunctionName', dispatch.functionName, 'What starts the run of a tick');
    this.#output('DashboardName', dashboard.name);
    this.#output('AccessLogGroup', api.accessLogs.logGroupName);
  }

  #function(name: FunctionName, settings: DormouseStackProps, lazy: readonly string[]): ServiceFunction {
    const { agents, actionNames, strictAgents, showStacks, overlap, retain, worker } = settings;
    const isWorker = name === 'work';
    const { id, entry, publishesMetrics, timeoutSecs = 29, takesEvents = false } = serviceFunctions[name];
    const tenantClaim = tenantClaimOf(settings);
    return new ServiceFunction(this, id, {
      description: `Dormouse: ${name}`,
      entry,
      ...{ agents, actionNames },
      leftOut: isWorker ? [] : lazy,
      sourceMap: isWorker,
      memorySize: isWorker ? worker.memorySize : functionMemoryMb,
      retain,
      timeoutSecs,
      takesEvents,
      environment: {
        [environment.strictAgents]: String(strictAgents),
        [environment.showStacks]: String(showStacks),
        [environment.overlap]: overlap,
        // It ends in a UUID that CloudFormation makes: costs nothing, stays through updates, and is in no log.
        [environment.logKey]: Aws.STACK_ID,
        ...(tenantClaim !== undefined && { [environment.tenantClaim]: tenantClaim }),
        ...(isWorker && workerEnvironment(worker)),
        // The name is that of Powertools.
        ...(publishesMetrics && { POWERTOOLS_METRICS_NAMESPACE: metricNamespace(this) }),
      },
    });
  }

  #output(id: string, value: string, description?: string): void {
    new CfnOutput(this, id, { value, ...(description !== undefined && { description }) });
  }
}

function tenantClaimOf({ auth }: Settings): string | undefined {
  return auth.kind === 'jwt' ? auth.tenantClaim : undefined;
}
