import { CfnOutput, Stack } from 'aws-cdk-lib';
import type { Construct } from 'constructs';
import { tables } from '../lib/dynamodb/tables.ts';
import { environment } from '../lib/environment.ts';
import { ServiceAlarms } from './constructs/alarms.ts';
import { ServiceApi } from './constructs/http-api.ts';
import { ServiceFunction } from './constructs/service-function.ts';
import { ServiceTable } from './constructs/tables.ts';
import { type FunctionName, functionNames, perFunction, serviceFunctions } from './service-functions.ts';
import type { Settings } from './settings.ts';

/** Everything that a deployment of Dormouse consists of. Bound to no account and no region. */
export class DormouseStack extends Stack {
  constructor(scope: Construct, id: string, settings: Settings) {
    super(scope, id, {
      stackName: `dormouse-${settings.stage}`,
      description: 'Dormouse: puts AI agents to sleep and wakes them up again',
    });

    const stored = new Map(
      tables.map((descriptor) => [descriptor, new ServiceTable(this, descriptor, settings)]),
    );
    const functions = perFunction((name) => this.#function(name, settings));
    for (const name of functionNames) {
      for (const access of serviceFunctions[name].access) {
        stored.get(access.table)?.grantAccess(functions[name], access);
      }
    }
    const api = new ServiceApi(this, 'HttpApi', functions, settings);
    new ServiceAlarms(this, 'Alarms', {
      functions: Object.values(functions),
      tables: [...stored.values()],
      api,
      email: settings.alarmEmail,
    });

    this.#output('ApiUrl', api.api.apiEndpoint, 'Where the API is');
    if (settings.auth.kind === 'iam') {
      const arn = api.api.arnForExecuteApi(undefined, undefined, '$default');
      this.#output('ApiArn', arn, 'What IAM policies of callers name: this ARN, or narrower METHOD/path');
    }
    for (const [{ id: tableId }, table] of stored) this.#output(`${tableId}TableName`, table.tableName);
    for (const fn of Object.values(functions))
      this.#output(`${fn.node.id}LogGroup`, fn.logGroup.logGroupName);
    this.#output('AccessLogGroup', api.accessLogs.logGroupName);
  }

  #function(name: FunctionName, { agents, auth, strictAgents, retain }: Settings): ServiceFunction {
    const { id, entry } = serviceFunctions[name];
    const tenantClaim = auth.kind === 'jwt' ? auth.tenantClaim : undefined;
    return new ServiceFunction(this, id, {
      description: `Dormouse: ${name}`,
      entry,
      agents,
      retain,
      environment: {
        [environment.strictAgents]: String(strictAgents),
        ...(tenantClaim !== undefined && { [environment.tenantClaim]: tenantClaim }),
      },
    });
  }

  #output(id: string, value: string, description?: string): void {
    new CfnOutput(this, id, { value, ...(description !== undefined && { description }) });
  }
}
