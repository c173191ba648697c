import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { startLocalServer } from '../../../infra/local/server.ts';
import { localSettings, settingsOfStage, setWorkerVariables } from '../../../infra/local/stage.ts';
import { uncheckedClaims } from '../../../infra/local/unchecked-token.ts';
import { defineAgent } from '../../../lib/agents/define-agent.ts';
import { runToEnd, temporaryFolder } from './local-process.ts';

const issuer = 'https://issuer.example.com/';
const stages = {
  prod: {
    ...{ auth: 'jwt', jwtIssuer: issuer, jwtAudience: ['dormouse', 'console'], tenantClaim: 'org' },
    ...{ strictAgents: true, showStacks: false, overlap: 'allow' },
    worker: { environment: { MODEL_URL: 'https://model', TAKEN: 'no' }, bedrockModels: ['a.b', 'c.d'] },
  },
};
const folderWithStages = () => {
  const folder = temporaryFolder();
  mkdirSync(join(folder, 'functions'));
  writeFileSync(join(folder, 'functions/agents.ts'), 'export default [];');
  writeFileSync(join(folder, 'cdk.json'), JSON.stringify({ context: { stages } }));
  return folder;
};
/** Signed by nobody. */
const tokenOf = (claims: object) =>
  ['{"alg":"none"}', JSON.stringify(claims), '']
    .map((part) => Buffer.from(part).toString('base64url'))
    .join('.');
const ann = { iss: issuer, aud: 'dormouse', sub: 'ann', org: 'one' };

test('the settings of a stage hold locally too, tenants included', async () => {
  const settings = localSettings(settingsOfStage(folderWithStages(), 'prod'));
  const agents = [defineAgent({ name: 'known' })];
  const server = await startLocalServer({ port: 0, quiet: true, agents, settings });
  onTestFinished(() => server.close());
  const call = (method: string, path: string, claims?: object, body?: string) =>
    fetch(`${server.url}/v1/agents/${path}`, {
      method,
      headers: {
        'content-type': 'application/json',
        ...(claims && { authorization: `Bearer ${tokenOf(claims)}` }),
      },
      ...(body !== undefined && { body }),
    });

  const refused = await call('GET', 'known/instances/i');
  expect([refused.status, await refused.json()]).toEqual([401, { message: 'Unauthorized' }]);
  expect((await call('PUT', 'known/instances/i', ann, '{"of":"one"}')).status).toBe(201);
  expect(await (await call('GET', 'known/instances/i', ann)).json()).toEqual({ of: 'one' });
  expect((await call('GET', 'known/instances/i', { ...ann, org: 'two' })).status).toBe(404);
  expect((await call('GET', 'known/instances/i', { ...ann, org: undefined })).status).toBe(403);
  expect((await call('GET', 'unknown/instances', ann)).status).toBe(404);
});

test('variables of the worker are set, but over none that is there', () => {
  const env: NodeJS.ProcessEnv = { TAKEN: 'yes' };

  setWorkerVariables(settingsOfStage(folderWithStages(), 'prod'), env);

  expect(env).toEqual({ TAKEN: 'yes', MODEL_URL: 'https://model', DORMOUSE_BEDROCK_MODELS: 'a.b,c.d' });
});

test('a stage that is none is refused in one line each', async () => {
  const { code, stderr } = await runToEnd('--stage', '1st');

  expect(code).toBe(1);
  expect(stderr).toMatch(/^dormouse: the settings .* are not valid:\n {2}stage must be .*not "1st"\n$/s);
});

describe('a token', () => {
  const jwt = {
    kind: 'jwt',
    issuer,
    audience: ['dormouse', 'console'],
    tenantClaim: 'org',
    scopes: {},
  } as const;
  const now = new Date('2027-01-01T00:00:00Z');
  const seconds = now.getTime() / 1000;
  const claimsOf = (authorization: string | undefined) => uncheckedClaims(authorization, jwt, now);

  test.each<[string, object]>([
    ['of one audience', {}],
    ['of several', { aud: ['other', 'console'] }],
    ['of a client', { aud: undefined, client_id: 'dormouse' }],
    ['in its time', { nbf: seconds, exp: seconds + 1 }],
  ])('%s is taken, its claims as texts', (_, more) => {
    const claims = claimsOf(`Bearer ${tokenOf({ ...ann, groups: ['a', 'b'], level: 7, ...more })}`);

    expect(claims).toMatchObject({ sub: 'ann', org: 'one', groups: '[a b]', level: '7' });
  });

  test.each<[string, string | undefined]>([
    ['that is missing', undefined],
    ['that is none', 'Bearer secret'],
    ['of another scheme', `Basic ${tokenOf(ann)}`],
    ['that is no JSON', `Bearer a.${Buffer.from('{').toString('base64url')}.c`],
    ['that is a list', `Bearer ${tokenOf([])}`],
    ['of another issuer', `Bearer ${tokenOf({ ...ann, iss: 'https://other/' })}`],
    ['of another audience', `Bearer ${tokenOf({ ...ann, aud: 'other' })}`],
    ['that is over', `Bearer ${tokenOf({ ...ann, exp: seconds })}`],
    ['that is not yet', `Bearer ${tokenOf({ ...ann, nbf: seconds + 1 })}`],
  ])('%s is not', (_, authorization) => {
    expect(claimsOf(authorization)).toBeUndefined();
  });
});
