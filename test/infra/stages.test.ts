import { describe, expect, test } from 'vitest';
import { type InvalidSettingsError, parseSettings } from '../../infra/settings.ts';
import { synthesizedStack } from './synthesized-stack.ts';

const jwt = { auth: 'jwt', jwtIssuer: 'https://issuer.example.com/', jwtAudience: 'dormouse' };
const file = {
  strictAgents: true,
  worker: { environment: { MODEL: 'small' }, memorySize: 1024 },
  stages: {
    prod: { ...jwt, tenantClaim: 'org', strictAgents: false, worker: { memorySize: 2048 } },
    test: { retain: false },
  },
};
const parse = (given: object, from: object = file) => parseSettings({ ...from, ...given }, { ...from });
const problemsOf = (given: object, from: object = file): readonly string[] => {
  try {
    parse(given, from);
    return [];
  } catch (error) {
    return (error as InvalidSettingsError).problems;
  }
};

describe('the settings of a stage', () => {
  test('win over what stands at the top, and are the same whenever it is deployed', () => {
    const prod = parse({ stage: 'prod' });

    expect(prod).toMatchObject({
      stage: 'prod',
      auth: { kind: 'jwt', tenantClaim: 'org' },
      strictAgents: false,
      worker: { environment: { MODEL: 'small' }, memorySize: 2048 },
      warnings: [],
    });
    expect(parse({ stage: 'prod' })).toEqual(prod);
    expect(parse({ stage: 'test' })).toMatchObject({
      auth: { kind: 'iam' },
      retain: false,
      strictAgents: true,
    });
    expect(parse({})).toMatchObject({ stage: 'dev', auth: { kind: 'iam' }, strictAgents: true });
  });

  test('give way to the command line, which is told where it hides what was stored', () => {
    const given = parse({ stage: 'prod', strictAgents: 'true', 'worker.memorySize': '4096' });
    expect(given).toMatchObject({ strictAgents: true, worker: { memorySize: 4096 }, warnings: [] });

    const other = parse({ stage: 'prod', tenantClaim: 'team' });
    expect(other.warnings).toMatchObject([
      { id: 'dormouse:otherTenants', text: expect.stringContaining('tenantClaim') },
    ]);
    expect(parse({ stage: 'prod', tenantClaim: 'org' }).warnings).toEqual([]);
    const apart = { ...file, stages: { prod: jwt } };
    expect(parse({ stage: 'prod', tenantClaim: 'org' }, apart).warnings).toMatchObject([
      { id: 'dormouse:otherTenants' },
    ]);
    expect(parse({ stage: 'test', auth: 'iam', tenantClaim: '' }).warnings).toEqual([]);
    const open = parse({ stage: 'prod', auth: 'iam', jwtIssuer: '', jwtAudience: '', tenantClaim: '' });
    expect(open.auth).toEqual({ kind: 'iam' });
    expect(open.warnings).toMatchObject([{ text: expect.stringContaining('auth and tenantClaim') }]);
  });

  test('are those of a stage that there is, and nothing but settings', () => {
    expect(problemsOf({ stage: 'prd' })).toEqual([
      "stages has no settings for 'prd'; it has prod, test; did you mean 'prod'?",
    ]);
    expect(
      problemsOf({}, { stages: { prod: { retan: true, 'worker.memorySize': 2048, stage: 'x' } } }),
    ).toEqual([
      "stages.prod.retan is not a setting; did you mean 'retain'?",
      'stages.prod.stage is not a setting',
    ]);
    expect(problemsOf({}, { stages: 'prod' })).toEqual([
      'stages must be an object: the settings of each stage under its name',
    ]);
    expect(problemsOf({ stage: 'prod' }, { stages: { prod: 'jwt' } })).toHaveLength(1);
    expect(problemsOf({ stage: 'anything' }, {})).toEqual([]);
  });
});

describe('tokens without a tenant', () => {
  const settings = { ...jwt };

  test('are a warning, which a setting acknowledges', () => {
    expect(parseSettings(settings).warnings).toMatchObject([{ id: 'dormouse:everyCallerSeesAll' }]);
    expect(parseSettings({ ...settings, sharedByAllCallers: 'true' }).warnings).toEqual([]);
    expect(problemsOf({ sharedByAllCallers: true }, {})).toHaveLength(1);
    expect(problemsOf({ ...settings, tenantClaim: 'org', sharedByAllCallers: true }, {})).toHaveLength(1);
  });

  test('are warned of by the stack', () => {
    const { stack } = synthesizedStack(settings);

    const warnings = stack.node.metadata.filter(({ type }) => type === 'aws:cdk:warning');
    expect(warnings.map(({ data }) => data)).toEqual([
      expect.stringContaining('dormouse:everyCallerSeesAll'),
    ]);
  });
});

describe('scopes', () => {
  const scopesOf = (jwtScopes: unknown) => {
    const { template } = synthesizedStack({ ...jwt, tenantClaim: 'org', jwtScopes });
    const routes = Object.values(template.findResources('AWS::ApiGatewayV2::Route'));
    return Object.fromEntries(
      routes.map(({ Properties }) => [Properties.RouteKey, Properties.AuthorizationScopes?.join()]),
    );
  };

  test('are asked for to read, to write, and to start runs', () => {
    const scopes = scopesOf({ read: 'dormouse/read', write: 'dormouse/write', run: 'dormouse/run' });

    expect(scopes).toMatchObject({
      'GET /v1/agents/{agent}/instances/{key+}': 'dormouse/read',
      'HEAD /v1/agents/{agent}/instances/{key+}': 'dormouse/read',
      'PUT /v1/agents/{agent}/instances/{key+}': 'dormouse/write',
      'DELETE /v1/agents/{agent}/sessions/{session}': 'dormouse/write',
      'POST /v1/agents/{agent}/sessions/{session}/messages': 'dormouse/write',
      'POST /v1/agents/{agent}/runs': 'dormouse/run',
      $default: undefined,
    });
    expect(Object.entries(scopes).filter(([, scope]) => scope === undefined)).toEqual([
      ['$default', undefined],
    ]);
  });

  test('that are left out are not asked for', () => {
    expect(new Set(Object.values(scopesOf('{"run":"start"}')))).toEqual(new Set([undefined, 'start']));
  });

  test('are nothing else, and of tokens only', () => {
    expect(problemsOf({ ...jwt, jwtScopes: { reed: 'x' } }, {})).toHaveLength(1);
    expect(problemsOf({ ...jwt, jwtScopes: { read: '' } }, {})).toHaveLength(1);
    expect(problemsOf({ jwtScopes: { read: 'x' } }, {})).toEqual([
      "jwtScopes has no meaning without auth 'jwt'",
    ]);
  });
});
