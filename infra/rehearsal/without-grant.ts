import type { AwsCalls } from './aws-calls.ts';
import { elementOf, iamVersion } from './callers.ts';
import { functionsOf, nameOf, referencesIn } from './grants.ts';
import { physicalNames } from './stack-resources.ts';
import type { DeployedStack } from './template.ts';

interface Statement {
  readonly Action: string | readonly string[];
  readonly Resource: string | readonly string[];
}

/** Does the work while the role of a function lacks the statement that allows an action on a resource. */
export async function withoutGrant<T>(
  aws: AwsCalls,
  stack: DeployedStack,
  { fn, action, resource }: { readonly fn: string; readonly action: string; readonly resource: string },
  work: () => Promise<T>,
): Promise<T> {
  const policy = await policyOf(aws, stack, fn);
  const iam = (Action: string, parameters: Record<string, string> = {}) =>
    aws.query('iam', iamVersion, { Action, ...policy, ...parameters });
  const text = decodeURIComponent(elementOf(await iam('GetRolePolicy'), 'PolicyDocument'));
  const document: { readonly Statement: readonly Statement[] } = JSON.parse(text);
  const kept = document.Statement.filter(
    ({ Action, Resource }) =>
      ![Action].flat().includes(action) || ![Resource].flat().every((on) => on.includes(resource)),
  );
  if (kept.length !== document.Statement.length - 1)
    throw new Error(`expected one statement of ${fn} that allows ${action} on ${resource} only: ${text}`);

  await iam('PutRolePolicy', { PolicyDocument: JSON.stringify({ ...document, Statement: kept }) });
  try {
    return await work();
  } finally {
    await iam('PutRolePolicy', { PolicyDocument: text });
  }
}

/** Names the role of a function, and the policy in it. */
async function policyOf(aws: AwsCalls, { name, template }: DeployedStack, fn: string) {
  const [, deployed] = functionsOf(template).find(([id]) => nameOf(id) === fn) ?? [];
  const [role = ''] = referencesIn(deployed?.Properties?.Role);
  const policy = Object.values(template.Resources).find(
    ({ Type, Properties }) => Type === 'AWS::IAM::Policy' && referencesIn(Properties?.Roles).includes(role),
  );
  const RoleName = (await physicalNames(aws, name)).get(role);
  if (RoleName === undefined || policy === undefined) throw new Error(`${fn} has no role with a policy`);
  return { RoleName, PolicyName: String(policy.Properties?.PolicyName) };
}
