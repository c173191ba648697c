import { Stack } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { Code, Function as LambdaFunction, Runtime } from 'aws-cdk-lib/aws-lambda';
import { describe, expect, test } from 'vitest';
import { grantWorker } from '../../infra/constructs/worker-access.ts';
import { resourceText } from '../../infra/rehearsal/grants.ts';
import { parseSettings } from '../../infra/settings.ts';
import { environment } from '../../lib/environment.ts';
import { resourcesOf, synthesizedStack } from './synthesized-stack.ts';

const inAccount = (service: string) => `arn:{AWS::Partition}:${service}:{AWS::Region}:{AWS::AccountId}`;
const anArn = 'arn:aws:secretsmanager:eu-central-1:123456789012:secret:model-key-aB3dE6';

/** What the settings allow a worker, as `action resource`. */
function allowed(worker: object): string[] {
  const stack = new Stack();
  const code = Code.fromInline('//');
  const fn = new LambdaFunction(stack, 'Work', {
    code,
    runtime: Runtime.NODEJS_24_X,
    handler: 'index.handler',
  });
  grantWorker(fn, parseSettings({ worker }).worker);
  return allowedIn(Template.fromStack(stack));
}

/** What policies allow of secrets and models, all of them or those of the roles whose logical ids begin so. */
function allowedIn(template: Template, role = ''): string[] {
  const policies = Object.values(resourcesOf(template, 'AWS::IAM::Policy')).filter(({ Properties }) =>
    Properties.Roles[0].Ref.startsWith(role),
  );
  const statements: Record<string, string | string[]>[] = policies.flatMap(
    ({ Properties }) => Properties.PolicyDocument.Statement,
  );
  const pairs = statements.flatMap(({ Effect, Action, Resource }) =>
    [Resource].flat().map((on) => `${Effect} ${[Action].flat().join()} ${resourceText(on)}`),
  );
  return pairs.filter((pair) => /secretsmanager:|bedrock:|Allow \*/.test(pair)).toSorted();
}

describe('a worker may', () => {
  test('neither read a secret nor invoke a model unless one is named', () => {
    expect(allowed({})).toEqual([]);
    expect(allowedIn(synthesizedStack().template)).toEqual([]);
  });

  test('read exactly the secrets that are named, with the ending that Secrets Manager gives them', () => {
    expect(
      allowed({ secrets: { MODEL_KEY: 'prod/model-key', SAME: 'prod/model-key', OTHER: anArn } }),
    ).toEqual([
      `Allow secretsmanager:GetSecretValue ${anArn}`,
      `Allow secretsmanager:GetSecretValue ${inAccount('secretsmanager')}:secret:prod/model-key-??????`,
    ]);
  });

  const foundation = (region: string, id: string) =>
    `Allow bedrock:InvokeModel arn:{AWS::Partition}:bedrock:${region}::foundation-model/${id}`;
  const profile = 'inference-profile/eu.anthropic.claude-sonnet-4-v1:0';

  test.each<[string, string, string[]]>([
    ['a model', 'amazon.nova-lite-v1:0', [foundation('{AWS::Region}', 'amazon.nova-lite-v1:0')]],
    [
      'a profile over regions, with its model in each of them',
      'eu.anthropic.claude-sonnet-4-v1:0',
      [
        `Allow bedrock:InvokeModel ${inAccount('bedrock')}:${profile}`,
        foundation('*', 'anthropic.claude-sonnet-4-v1:0'),
      ],
    ],
    [
      'the same by its ARN',
      `arn:aws:bedrock:eu-west-1:123456789012:${profile}`,
      [
        `Allow bedrock:InvokeModel arn:aws:bedrock:eu-west-1:123456789012:${profile}`,
        foundation('*', 'anthropic.claude-sonnet-4-v1:0'),
      ],
    ],
    [
      'whatever else an ARN names',
      'arn:aws:bedrock:eu-west-1:123456789012:application-inference-profile/abc123',
      [
        'Allow bedrock:InvokeModel arn:aws:bedrock:eu-west-1:123456789012:application-inference-profile/abc123',
      ],
    ],
  ])('invoke %s', (_what, model, expected) => {
    expect(allowed({ bedrockModels: [model] })).toEqual(expected.toSorted());
  });
});

describe('the worker of the stack', () => {
  const worker = {
    environment: { MODEL_URL: 'https://model.example.com' },
    secrets: { MODEL_KEY: 'prod/model-key' },
    bedrockModels: ['amazon.nova-lite-v1:0', 'amazon.nova-pro-v1:0'],
    memorySize: 2048,
    allowPrivateAddresses: true,
  };
  const { template } = synthesizedStack({ worker });
  const functionsOf = (from: Template) =>
    Object.entries(resourcesOf(from, 'AWS::Lambda::Function')).map(([id, { Properties }]) => ({
      ...{ id, MemorySize: Properties.MemorySize },
      ...Properties.Environment.Variables,
    }));

  test('has its variables, the names of its secrets, its models and its memory; no other function has', () => {
    const functions = functionsOf(template);

    const [work] = functions.filter(({ id }) => /^Work[0-9A-F]{8}$/.test(id));
    expect(work).toMatchObject({
      MODEL_URL: 'https://model.example.com',
      [environment.secrets]: '{"MODEL_KEY":"prod/model-key"}',
      [environment.bedrockModels]: 'amazon.nova-lite-v1:0,amazon.nova-pro-v1:0',
      [environment.allowPrivateAddresses]: 'true',
      MemorySize: 2048,
    });
    const others = functions.filter((fn) => fn !== work);
    expect(others.length).toBeGreaterThan(0);
    for (const fn of others) {
      expect(fn.MemorySize).toBe(1024);
      const { secrets, bedrockModels, allowPrivateAddresses } = environment;
      for (const name of ['MODEL_URL', secrets, bedrockModels, allowPrivateAddresses])
        expect(fn).not.toHaveProperty(name);
    }
  });

  test('may do what it may by these settings, and no other function may', () => {
    expect(allowedIn(template, 'WorkRole')).toEqual(allowed(worker));
    expect(allowedIn(template)).toEqual(allowed(worker));
    expect(allowed(worker)).toHaveLength(3);
  });

  test('has nothing of all that unless it is set', () => {
    for (const fn of functionsOf(synthesizedStack().template)) {
      expect(fn).not.toHaveProperty(environment.secrets);
      expect(fn).not.toHaveProperty(environment.bedrockModels);
      expect(fn).not.toHaveProperty(environment.allowPrivateAddresses);
    }
  });
});
