import type { AwsCalls } from './aws-calls.ts';
import type { Report } from './report.ts';
import { alarmNames, dashboardNames } from './resource-lists.ts';
import { physicalNames } from './stack-resources.ts';
import type { DeployedStack } from './template.ts';

/** Every alarm and dashboard of the template that the emulator takes is there. */
export async function checkAlarms(report: Report, aws: AwsCalls, stack: DeployedStack): Promise<void> {
  const names = await physicalNames(aws, stack.name);
  const wanted = (type: string) =>
    Object.entries(stack.template.Resources)
      .filter(([, { Type }]) => Type === type)
      .map(([id]) => names.get(id) ?? id);
  for (const [what, type, listed] of [
    ['alarms', 'AWS::CloudWatch::Alarm', await alarmNames(aws)],
    ['dashboards', 'AWS::CloudWatch::Dashboard', await dashboardNames(aws)],
  ] as const) {
    const ids = wanted(type);
    const missing = ids.filter((id) => !listed.includes(id));
    report.check(`all ${ids.length} ${what} are there`, missing.length === 0, `not ${missing.join(', ')}`);
  }
}
