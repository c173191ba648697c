import type { ApiTarget } from './api-request.ts';
import type { AwsCalls } from './aws-calls.ts';
import { checkDeadLetters } from './check-dead-letters.ts';
import { checkHandOver } from './check-hand-over.ts';
import { checkMemoryRun } from './check-memory-run.ts';
import { checkRun } from './check-run.ts';
import { checkSchedules } from './check-schedules.ts';
import { checkDuplicatedTick } from './check-ticks.ts';
import { dispatcher } from './dispatcher.ts';
import type { Report } from './report.ts';
import type { DeployedStack } from './template.ts';

/** What the suite cannot see from outside of runs, schedules and their queues. The last two change what is deployed, and put it back. */
export async function rehearseLifecycle(
  report: Report,
  aws: AwsCalls,
  api: ApiTarget,
  stack: DeployedStack,
): Promise<void> {
  const dispatch = dispatcher(aws, stack);
  await report.step('runs over HTTP', async () => {
    await checkRun(report, aws, api, stack);
    await checkMemoryRun(report, api);
  });
  await report.step('schedules that come due', () => checkSchedules(report, api));
  await report.step('a duplicated tick', () => checkDuplicatedTick(report, api, dispatch));
  await report.step('a run that is handed on', () => checkHandOver(report, aws, api, stack));
  await report.step('dead letters', () => checkDeadLetters(report, aws, stack, dispatch));
}
