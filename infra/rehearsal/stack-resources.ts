import type { AwsCalls } from './aws-calls.ts';

const cloudFormationVersion = '2010-05-15';

/** The physical name of each resource of a stack, by logical id. */
export async function physicalNames(aws: AwsCalls, stackName: string): Promise<Map<string, string>> {
  const parameters = { Action: 'DescribeStackResources', StackName: stackName };
  return parsePhysicalNames(await aws.query('cloudformation', cloudFormationVersion, parameters));
}

export function parsePhysicalNames(xml: string): Map<string, string> {
  const members = xml.matchAll(
    /<LogicalResourceId>([^<]*)<\/LogicalResourceId>\s*<PhysicalResourceId>([^<]*)<\/PhysicalResourceId>/g,
  );
  return new Map([...members].map(([, logicalId, physicalId]) => [logicalId ?? '', physicalId ?? '']));
}

export async function stackExists(aws: AwsCalls, stackName: string): Promise<boolean> {
  try {
    const parameters = { Action: 'DescribeStacks', StackName: stackName };
    const xml = await aws.query('cloudformation', cloudFormationVersion, parameters);
    return !xml.includes('<StackStatus>DELETE_COMPLETE</StackStatus>');
  } catch (error) {
    if (String(error).includes('does not exist')) return false;
    throw error;
  }
}

/** What could outlive a stack and cost money: tables, functions and log groups that bear its name. */
export async function leftovers(aws: AwsCalls, stackName: string): Promise<string[]> {
  const { TableNames } = (await aws.json('dynamodb', 'DynamoDB_20120810.ListTables', {})) as {
    TableNames: string[];
  };
  const { logGroups } = (await aws.json('logs', 'Logs_20140328.DescribeLogGroups', {})) as {
    logGroups: { logGroupName: string }[];
  };
  const { Functions } = JSON.parse(await aws.rest('lambda', 'GET', '/2015-03-31/functions/')) as {
    Functions: { FunctionName: string }[];
  };
  const names = [
    ...TableNames,
    ...logGroups.map(({ logGroupName }) => logGroupName),
    ...Functions.map(({ FunctionName }) => FunctionName),
  ];
  return names.filter((name) => name.includes(stackName));
}
