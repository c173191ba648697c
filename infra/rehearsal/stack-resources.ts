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
