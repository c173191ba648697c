import { GetSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { mockClient } from 'aws-sdk-client-mock';
import { afterAll, afterEach, beforeEach, expect, test, vi } from 'vitest';
import { defineAgent } from '../../lib/agents/define-agent.ts';
import { environment } from '../../lib/environment.ts';
import { capturedLog } from '../support/captured-log.ts';
import { request } from '../support/every-route.ts';
import { sdkError } from '../support/failing-client.ts';
import { type LifecycleFunctions, lifecycleFunctions } from '../support/lifecycle-functions.ts';

const value = 'sk-never-seen';
const secretsManager = mockClient(SecretsManagerClient);
afterAll(() => secretsManager.restore());

/** Tells how long the session's secret is: callers see results, and nobody is to see the secret. */
const support = defineAgent({
  name: 'support',
  actions: { ask: async ({ meta }, { secret }) => (await secret(String(meta.secret))).length },
});

let functions: LifecycleFunctions;
let lines: string[];
beforeEach(() => {
  secretsManager.reset();
  lines = capturedLog();
  // What is read is kept for the process: each test has a name of its own.
  const names = { MODEL_KEY: 'prod/model-key', BINARY_KEY: 'prod/binary', LOST_KEY: 'prod/lost' };
  vi.stubEnv(environment.secrets, JSON.stringify(names));
  vi.stubEnv('AWS_REGION', 'eu-central-1');
  functions = lifecycleFunctions([support]);
});
afterEach(() => {
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
});

/** The job of a run over one session, in which it asks for this secret. */
const ask = async (secret: string) => {
  await request('PUT', '/v1/agents/support/sessions/s', { body: JSON.stringify({ meta: { secret } }) });
  const { body } = await request('POST', '/v1/agents/support/runs', { body: '{"action":"ask"}' });
  await functions.drain();
  return (await request('GET', `/v1/agents/support/runs/${body.runId}/jobs`)).body.items[0];
};
const secretIdsRead = () =>
  secretsManager.commandCalls(GetSecretValueCommand).map(({ args }) => args[0].input.SecretId);

test('a secret is read by the name that the setting gives it, once for all runs', async () => {
  secretsManager.on(GetSecretValueCommand).resolves({ SecretString: value });

  expect(await ask('MODEL_KEY')).toMatchObject({ ok: true, result: value.length });
  expect(await ask('MODEL_KEY')).toMatchObject({ ok: true, result: value.length });

  expect(secretIdsRead()).toEqual(['prod/model-key']);
  expect(lines.join()).not.toContain(value);
});

test('one that is stored as bytes is their text', async () => {
  secretsManager.on(GetSecretValueCommand).resolves({ SecretBinary: new TextEncoder().encode('schlüssel') });

  expect(await ask('BINARY_KEY')).toMatchObject({ ok: true, result: 9 });
});

test('one that cannot be read fails the job with both names and the reason, and is asked for again', async () => {
  const denied = sdkError('AccessDeniedException');
  denied.message = 'User: worker is not authorized to perform: secretsmanager:GetSecretValue';
  secretsManager.on(GetSecretValueCommand).rejectsOnce(denied).resolves({ SecretString: value });

  const { error } = await ask('LOST_KEY');

  expect(error.reason).toBe(`the secret 'LOST_KEY' (prod/lost) cannot be read: ${denied.message}`);
  expect(await ask('LOST_KEY')).toMatchObject({ ok: true });
});

test('one that no setting names fails the job with its name and the setting, and nothing is read', async () => {
  for (const name of ['MODLE_KEY', 'toString']) {
    const { ok, error } = await ask(name);

    expect(ok).toBe(false);
    expect(error.reason).toMatch(new RegExp(`no secret '${name}'.* worker\\.secrets`));
  }
  expect(secretIdsRead()).toEqual([]);
});
