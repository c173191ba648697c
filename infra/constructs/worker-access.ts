import { ArnFormat, Stack } from 'aws-cdk-lib';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import type { Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import { environment } from '../../lib/environment.ts';
import type { WorkerSettings } from '../worker-settings.ts';

/** The variables that a worker has for its actions. Of secrets it has the names, never the values. */
export function workerEnvironment(worker: WorkerSettings): Record<string, string> {
  const { secrets, bedrockModels, allowPrivateAddresses } = worker;
  return {
    ...worker.environment,
    ...(Object.keys(secrets).length > 0 && { [environment.secrets]: JSON.stringify(secrets) }),
    ...(bedrockModels.length > 0 && { [environment.bedrockModels]: bedrockModels.join(',') }),
    ...(allowPrivateAddresses && { [environment.allowPrivateAddresses]: 'true' }),
  };
}

/** Lets a worker read exactly these secrets and invoke exactly these models. */
export function grantWorker(worker: LambdaFunction, { secrets, bedrockModels }: WorkerSettings): void {
  const resources = {
    'secretsmanager:GetSecretValue': Object.values(secrets).map((secret) => secretArn(worker, secret)),
    // Converse needs no permission of its own.
    'bedrock:InvokeModel': bedrockModels.flatMap((model) => modelArns(worker, model)),
  };
  for (const [action, arns] of Object.entries(resources)) {
    if (arns.length > 0)
      worker.addToRolePolicy(new PolicyStatement({ actions: [action], resources: [...new Set(arns)] }));
  }
}

/** Secrets Manager ends the ARN of a secret with a hyphen and six characters of its own. */
function secretArn(worker: LambdaFunction, secret: string): string {
  if (secret.startsWith('arn:')) return secret;
  return Stack.of(worker).formatArn({
    ...{ service: 'secretsmanager', resource: 'secret', resourceName: `${secret}-??????` },
    arnFormat: ArnFormat.COLON_RESOURCE_NAME,
  });
}

/** What begins the id of a profile for inference over regions, and not that of a model. */
const profileId = /^(?:us|us-gov|eu|apac|jp|au|ca|global)\.(.+)$/;

/** A profile for inference over regions (`eu.anthropic.…`) wants itself and its model in every region allowed. */
function modelArns(worker: LambdaFunction, model: string): string[] {
  const stack = Stack.of(worker);
  const isArn = model.startsWith('arn:');
  const profiled = profileId.exec(isArn ? model.slice(model.indexOf('/') + 1) : model)?.[1];
  const foundation = (resourceName: string, where: { readonly region?: string } = {}) =>
    stack.formatArn({
      service: 'bedrock',
      account: '',
      resource: 'foundation-model',
      resourceName,
      ...where,
    });
  if (profiled === undefined) return [isArn ? model : foundation(model)];
  const profile = { service: 'bedrock', resource: 'inference-profile', resourceName: model };
  return [isArn ? model : stack.formatArn(profile), foundation(profiled, { region: '*' })];
}
