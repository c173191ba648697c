import type { ApiTarget } from './api-request.ts';
import type { AwsCalls } from './aws-calls.ts';
import { checkDeadLetters } from './check-dead-letters.ts';
import type { CallsByService } from './check-grants.ts';
import { checkHandOver } from './check-hand-over.ts';
import { checkMemoryRun } from './check-memory-run.ts';
import { checkModelAction } from './check-model-action.ts';
import { checkRun } from './check-run.ts';
import { checkSchedules } from './check-schedules.ts';
import { checkDuplicatedTick } from './check-ticks.ts';
import { dispatcher } from './dispatcher.ts';
import type { Model } from './model.ts';
import type { Report } from './report.ts';
import type { DeployedStack } from './template.ts';

/**
 * What the suite cannot see from outside of runs, schedules and their queues. The last three change what is deployed, and
 * put it back. Resolves the calls that were refused on purpose.
 */
export async function rehearseLifecycle(
  report: Report,
  aws: AwsCalls,
  api: ApiTarget,
  stack: DeployedStack,
  model: Model,
): Promise<CallsByService> {
  const dispatch = dispatcher(aws, stack);
  await report.step('runs over HTTP', async () => {
    await checkRun(report, aws, api, stack);
    await checkMemoryRun(report, api);
  });
  await report.step('schedules that come due', () => checkSchedules(report, api));
  await report.step('a duplicated tick', () => checkDuplicatedTick(report, api, dispatch));
  await report.step('a run that is handed on', () => checkHandOver(report, aws, api, stack));
  await report.step('dead letters', () => checkDeadLetters(report, aws, stack, dispatch));
  return report.step('an action that calls a model', () => checkModelAction(report, aws, api, stack, model));
}
