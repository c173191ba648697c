import type { AwsCalls, Credentials } from './aws-calls.ts';

export const iamVersion = '2010-05-08';

/** An IAM user with an access key, who may call the parts of the API that the ARNs name. None: a stranger. */
export async function createCaller(
  aws: AwsCalls,
  name: string,
  mayCall: readonly string[],
): Promise<Credentials> {
  const iam = (action: string, parameters: Record<string, string> = {}) =>
    aws.query('iam', iamVersion, { Action: action, UserName: name, ...parameters });
  await iam('CreateUser');
  if (mayCall.length > 0) {
    const statement = { Effect: 'Allow', Action: 'execute-api:Invoke', Resource: mayCall };
    const document = { Version: '2012-10-17', Statement: [statement] };
    await iam('PutUserPolicy', { PolicyName: 'call', PolicyDocument: JSON.stringify(document) });
  }
  const answer = await iam('CreateAccessKey');
  return {
    accessKeyId: elementOf(answer, 'AccessKeyId'),
    secretAccessKey: elementOf(answer, 'SecretAccessKey'),
  };
}

export function elementOf(xml: string, name: string): string {
  const text = new RegExp(`<${name}>([^<]*)</${name}>`).exec(xml)?.[1];
  if (text === undefined) throw new Error(`IAM's answer has no ${name}`);
  return text;
}
