import { describe, expect, test } from 'vitest';
import { InvalidSettingsError, parseSettings } from '../../infra/settings.ts';

const worker = {
  environment: { MODEL_URL: 'https://model.example.com/v1?a=b' },
  secrets: {
    MODEL_KEY: 'prod/model-key',
    OTHER_KEY: 'arn:aws:secretsmanager:eu-central-1:123456789012:secret:other-aB3dE6',
  },
  bedrockModels: ['eu.anthropic.claude-sonnet-4-v1:0', 'amazon.nova-lite-v1:0'],
  memorySize: 2048,
  allowPrivateAddresses: true,
};

function problemsOf(context: Record<string, unknown>): readonly string[] {
  try {
    parseSettings(context);
  } catch (error) {
    if (error instanceof InvalidSettingsError) return error.problems;
    throw error;
  }
  return [];
}

describe('the settings of the worker', () => {
  test('mean the same as an object, as JSON of one, and one by one on the command line', () => {
    const given = [
      { worker },
      { worker: JSON.stringify(worker) },
      {
        'worker.environment': JSON.stringify(worker.environment),
        'worker.secrets': JSON.stringify(worker.secrets),
        'worker.bedrockModels': worker.bedrockModels.join(','),
        'worker.memorySize': '2048',
        'worker.allowPrivateAddresses': 'true',
      },
    ];

    for (const context of given) expect(parseSettings(context).worker).toEqual(worker);
  });

  test('of the command line win, one by one, and an empty one unsets', () => {
    const context = { worker, 'worker.memorySize': '4096', 'worker.bedrockModels': '' };

    expect(parseSettings(context).worker).toEqual({ ...worker, memorySize: 4096, bedrockModels: [] });
  });

  const variable = /must be named with letters, digits and '_', a letter first$/;
  const reserved =
    /must not begin with AWS_, LAMBDA_, DORMOUSE_, POWERTOOLS_: Lambda and Dormouse set those$/;
  const secret = /must be the name of a secret in Secrets Manager, or its full ARN$/;
  const models = /must be a list of ids or ARNs of models or inference profiles, such as 'amazon/;
  const memory = /must be a whole number from 1024 to 10240$/;
  test.each<[string, unknown, RegExp]>([
    ['environment', 'MODEL_URL=x', /must be an object, or JSON of one$/],
    ['environment', ['MODEL_URL'], /must be an object, or JSON of one$/],
    ['environment.A', { A: 7 }, /must be a string$/],
    ['environment.1A', { '1A': 'x' }, variable],
    ['environment.A-B', { 'A-B': 'x' }, variable],
    ['environment._A', { _A: 'x' }, variable],
    ['environment.AWS_REGION', { AWS_REGION: 'x' }, reserved],
    ['environment.DORMOUSE_OVERLAP', { DORMOUSE_OVERLAP: 'x' }, reserved],
    ['secrets', 'MODEL_KEY', /must be an object, or JSON of one$/],
    ['secrets.KEY', { KEY: 'two words' }, secret],
    ['secrets.KEY', { KEY: '' }, secret],
    ['secrets.KEY', { KEY: '*' }, secret],
    ['secrets.KEY', { KEY: 'prod/key-??????' }, secret],
    ['secrets.KEY', { KEY: { name: 'prod/key' } }, secret],
    ['secrets.KEY', { KEY: 'arn:aws:secretsmanager:eu-central-1:123456789012:secret:other' }, secret],
    ['secrets.KEY', { KEY: 'arn:aws:ssm:eu-central-1:123456789012:parameter/key-aB3dE6' }, secret],
    ['secrets.LAMBDA_KEY', { LAMBDA_KEY: 'prod/key' }, reserved],
    ['bedrockModels', [], models],
    ['bedrockModels', ['*'], models],
    ['bedrockModels', 'nova lite', models],
    ['bedrockModels', [{ id: 'amazon.nova-lite-v1:0' }], models],
    ['bedrockModels', ['arn:aws:bedrock:*::foundation-model/*'], models],
    ['memorySize', 1023, memory],
    ['memorySize', 10_241, memory],
    ['memorySize', 1500.5, memory],
    ['memorySize', '2 GB', memory],
    ['allowPrivateAddresses', 'yes', /must be true or false$/],
    ['allowPrivateAddresses', 1, /must be true or false$/],
  ])('refuse worker.%s that is %j, by name and with what it must be', (name, value, message) => {
    const [setting = ''] = name.split('.');

    for (const context of [{ worker: { [setting]: value } }, { [`worker.${setting}`]: value }]) {
      const problems = problemsOf(context);

      expect(problems).toEqual([expect.stringMatching(message)]);
      expect(problems[0]).toMatch(new RegExp(`^worker\\.${name} must `));
    }
  });

  test.each([['fast'], [7], [['environment']]])('refuse a worker that is %j', (given) => {
    expect(problemsOf({ worker: given })).toEqual([
      'worker must be an object of environment, secrets, bedrockModels, memorySize, allowPrivateAddresses',
    ]);
  });

  test('refuse one that there is not, wherever it is misspelled', () => {
    const these =
      'is not a setting; these are: environment, secrets, bedrockModels, memorySize, allowPrivateAddresses';

    expect(problemsOf({ worker: { secret: {} } })).toEqual([`worker.secret ${these}`]);
    expect(problemsOf({ 'worker.memory': '2048' })).toEqual([`worker.memory ${these}`]);
    expect(problemsOf({ 'wroker.memorySize': '2048' })).toEqual([
      expect.stringMatching(/^wroker\.memorySize is not a setting; .*worker/),
    ]);
  });

  test('refuse a secret under the name of a variable, which would hide it', () => {
    const both = { environment: { KEY: 'sk-1' }, secrets: { KEY: 'prod/key' } };

    expect(problemsOf({ worker: both })).toEqual([
      'worker.secrets.KEY must have another name: worker.environment has a variable of this one',
    ]);
  });

  test('refuse more than a function has room for', () => {
    const environment = { LONG: 'x'.repeat(4000) };

    expect(problemsOf({ worker: { environment } })).toEqual([
      expect.stringMatching(
        /^worker\.environment, .* must be at most 3000 bytes together, .*: they are 40\d\d$/,
      ),
    ]);
  });

  test('quote no value: what stands in the wrong place may be a secret', () => {
    const key = 'sk-live-0123 4567';
    const context = {
      worker: { secrets: { KEY: key }, environment: key, bedrockModels: [key], memorySize: key },
    };

    expect(problemsOf(context)).toHaveLength(4);
    expect(problemsOf(context).join()).not.toContain('0123');
    expect(problemsOf({ worker: key }).join()).not.toContain('0123');
  });
});
