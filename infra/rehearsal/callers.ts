import { request } from 'node:http';
import { AwsV4Signer } from 'aws4fetch';
import { type AwsCalls, type Credentials, region } from './aws-calls.ts';

const iamVersion = '2010-05-08';

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

function elementOf(xml: string, name: string): string {
  const text = new RegExp(`<${name}>([^<]*)</${name}>`).exec(xml)?.[1];
  if (text === undefined) throw new Error(`IAM's answer has no ${name}`);
  return text;
}

/** The status of a GET of the API, as an anonymous caller or a signed one. */
export async function statusOf(
  endpoint: string,
  host: string,
  path: string,
  credentials?: Credentials,
): Promise<number> {
  const { hostname, port } = new URL(endpoint);
  const signature = credentials === undefined ? {} : await signatureOf(`http://${host}${path}`, credentials);
  return new Promise((resolve, reject) => {
    const outgoing = request({ hostname, port, path, headers: { ...signature, host } }, (response) => {
      response.resume().once('end', () => resolve(response.statusCode ?? 0));
    });
    outgoing.once('error', reject).end();
  });
}

async function signatureOf(url: string, credentials: Credentials): Promise<Record<string, string>> {
  const signer = new AwsV4Signer({ ...credentials, url, method: 'GET', service: 'execute-api', region });
  return Object.fromEntries((await signer.sign()).headers);
}
