import { sessionShards } from '../../lib/defaults.ts';
import { shardOf } from '../../lib/sessions/shard-of.ts';
import type { ApiTarget } from './api-request.ts';
import type { AwsCalls } from './aws-calls.ts';
import { functionsOf, nameOf } from './grants.ts';
import type { Report } from './report.ts';
import { endOfRun, registerSession, startRun } from './runs.ts';
import { physicalNames } from './stack-resources.ts';
import type { DeployedStack } from './template.ts';

/** For this check only: as deployed, the worker has five minutes. */
const workerSecs = 10;

/**
 * A run that takes longer than its worker has. Every session hangs for the two seconds that the agent gives each, ten at
 * a time; they are all of one shard, or sixteen workers would share them.
 */
export async function checkHandOver(
  report: Report,
  aws: AwsCalls,
  api: ApiTarget,
  stack: DeployedStack,
): Promise<void> {
  const sessions = namesOfOneShard('rehearsal-long', 40);
  for (const id of sessions) await registerSession(api, id, { behaviour: 'hang' });
  const path = `/2015-03-31/functions/${await workerOf(aws, stack)}/configuration`;
  const { Timeout } = JSON.parse(await aws.rest('lambda', 'GET', path));
  const setTimeoutSecs = (seconds: number) =>
    aws.rest('lambda', 'PUT', path, { body: JSON.stringify({ Timeout: seconds }) });

  await setTimeoutSecs(workerSecs);
  try {
    const run = await endOfRun(api, await startRun(api, 'stumble', sessions));
    report.check(
      'a run that takes longer than its worker has is handed on, and completes with exact totals',
      run?.status === 'completed' && run.sessions === sessions.length && run.failed === sessions.length,
      JSON.stringify(run ?? 'it was still going on'),
    );
  } finally {
    await setTimeoutSecs(Timeout);
  }
}

function namesOfOneShard(prefix: string, count: number): string[] {
  const names: string[] = [];
  for (let index = 0; names.length < count; index++) {
    const name = `${prefix}-${index}`;
    if (shardOf(name, sessionShards) === 0) names.push(name);
  }
  return names;
}

async function workerOf(aws: AwsCalls, { name, template }: DeployedStack): Promise<string> {
  const id = functionsOf(template).find(([logicalId]) => nameOf(logicalId) === 'Work')?.[0] ?? 'Work';
  const physical = (await physicalNames(aws, name)).get(id);
  if (physical === undefined) throw new Error('the worker was not deployed');
  return physical;
}
