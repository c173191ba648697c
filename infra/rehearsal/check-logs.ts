import type { AwsCalls } from './aws-calls.ts';
import { functionsOf, nameOf, referencesIn } from './grants.ts';
import type { Report } from './report.ts';
import { physicalNames } from './stack-resources.ts';
import type { DeployedStack } from './template.ts';

/** What the functions logged is in the log groups of the stack, for which their roles have the grants. */
export async function checkLogs(report: Report, aws: AwsCalls, stack: DeployedStack): Promise<void> {
  const names = await physicalNames(aws, stack.name);
  const { logGroups } = (await aws.json('logs', 'Logs_20140328.DescribeLogGroups', {})) as {
    logGroups: { logGroupName: string; storedBytes: number }[];
  };
  const bytes = new Map(logGroups.map(({ logGroupName, storedBytes }) => [logGroupName, storedBytes]));
  const silent = functionsOf(stack.template).filter(([, { Properties }]) => {
    const logging = Properties?.LoggingConfig as { LogGroup?: unknown } | undefined;
    const group = names.get(referencesIn(logging?.LogGroup)[0] ?? '') ?? '';
    return (bytes.get(group) ?? 0) === 0;
  });
  const listed = silent.map(([id]) => nameOf(id)).join(', ');
  report.check('every function has logged into its own log group', silent.length === 0, `not ${listed}`);
}
