import { isAbsolute, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { projectRoot } from '../../infra/project.ts';
import { InvalidSettingsError, parseSettings } from '../../infra/settings.ts';

const jwt = { auth: 'jwt', jwtIssuer: 'https://issuer.example.com/', jwtAudience: 'dormouse' };

describe('the settings', () => {
  test('are complete when nothing is set: IAM, retained tables, no CORS', () => {
    expect(parseSettings({})).toEqual({
      stage: 'dev',
      retain: true,
      agents: join(projectRoot, 'functions/agents.ts'),
      auth: { kind: 'iam' },
      strictAgents: false,
      showStacks: true,
      overlap: 'skip',
      alarmEmail: undefined,
      throttle: { rateLimit: 500, burstLimit: 1000 },
      corsOrigins: [],
      warnings: [],
      worker: {
        environment: {},
        secrets: {},
        bedrockModels: [],
        memorySize: 1024,
        allowPrivateAddresses: false,
      },
    });
  });

  test('mean the same as strings of the command line as in cdk.json', () => {
    const typed = {
      ...jwt,
      retain: false,
      strictAgents: true,
      jwtAudience: ['a', 'b'],
      throttle: { rateLimit: 5, burstLimit: 10 },
      corsOrigins: ['https://a.example.com', 'http://localhost:8080'],
    };
    const written = {
      ...jwt,
      retain: 'false',
      strictAgents: 'true',
      jwtAudience: 'a,b',
      throttle: '{"rateLimit":5,"burstLimit":10}',
      corsOrigins: '["https://a.example.com","http://localhost:8080"]',
    };

    expect(parseSettings(written)).toEqual(parseSettings(typed));
    expect(parseSettings(written)).toMatchObject({ retain: false, strictAgents: true });
  });

  test('take an agents file relative to the project', () => {
    const { agents } = parseSettings({ agents: 'lib/index.ts' });

    expect(isAbsolute(agents)).toBe(true);
    expect(agents).toBe(join(projectRoot, 'lib/index.ts'));
  });

  test('an empty value unsets what cdk.json sets', () => {
    expect(parseSettings({ alarmEmail: '', throttle: '' })).toEqual(parseSettings({}));
  });

  test("leave the CDK's own context alone", () => {
    const context = {
      '@aws-cdk/core:checkSecretUsage': true,
      'aws:cdk:bundling-stacks': [],
      'cli-telemetry': false,
    };

    expect(parseSettings(context)).toEqual(parseSettings({}));
  });

  test.each([
    ['stage', 'no spaces'],
    ['stage', '1st'],
    ['retain', 'no'],
    ['retain', 0],
    ['agents', 'functions/agents.json'],
    ['agents', 'functions/nobody.ts'],
    ['auth', 'none'],
    ['strictAgents', 'yes'],
    ['overlap', 'queue'],
    ['alarmEmail', 'ops'],
    ['throttle', 7],
    ['throttle', '{"rateLimit":'],
    ['throttle', { rateLimit: 5 }],
    ['throttle', { rateLimit: 0, burstLimit: 10 }],
    ['throttle', { rateLimit: 5, burstLimit: 1.5 }],
    ['corsOrigins', []],
    ['corsOrigins', 'app.example.com'],
    ['corsOrigins', ['https://app.example.com/path']],
    ['corsOrigins', ['https://app.example.com', 7]],
  ])('refuse %s %j, by name', (name, value) => {
    expect(problemsOf({ [name]: value })).toEqual([expect.stringMatching(new RegExp(`^${name} `))]);
  });

  test.each([
    ['jwtIssuer', 'http://issuer.example.com'],
    ['jwtIssuer', 'issuer'],
    ['jwtAudience', []],
    ['jwtAudience', [' ']],
    ['tenantClaim', 'two words'],
  ])('refuse %s %j with JWT authorization, by name', (name, value) => {
    expect(problemsOf({ ...jwt, [name]: value })).toEqual([expect.stringMatching(new RegExp(`^${name} `))]);
  });

  test('want issuer and audience with JWT authorization', () => {
    expect(problemsOf({ auth: 'jwt' })).toEqual([
      "jwtIssuer is required with auth 'jwt'",
      "jwtAudience is required with auth 'jwt'",
    ]);
  });

  test('refuse a tenant claim without JWT authorization, where it would separate nobody', () => {
    expect(problemsOf({ tenantClaim: 'tenant' })).toEqual(["tenantClaim has no meaning without auth 'jwt'"]);
  });

  test('refuse a misspelled setting, and say which there are', () => {
    expect(problemsOf({ retian: false })).toEqual([
      expect.stringMatching(/^retian is not a setting; .*retain/),
    ]);
  });

  test('tell everything that is wrong in one error', () => {
    const context = { retian: 1, auth: 'jwt', stage: '', throttle: 'fast', alarmEmail: 'nobody' };

    const named = problemsOf(context).map((problem) => problem.split(' ', 1)[0]);

    expect(new Set(named)).toEqual(new Set(['retian', 'jwtIssuer', 'jwtAudience', 'throttle', 'alarmEmail']));
    expect(() => parseSettings(context)).toThrow(/retian is not a setting/);
    expect(() => parseSettings(context)).toThrow(/jwtIssuer is required/);
  });
});

function problemsOf(context: Record<string, unknown>): readonly string[] {
  try {
    parseSettings(context);
  } catch (error) {
    if (error instanceof InvalidSettingsError) return error.problems;
    throw error;
  }
  return [];
}
