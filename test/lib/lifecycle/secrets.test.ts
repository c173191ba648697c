import { expect, test } from 'vitest';
import { type Secrets, SecretUnavailableError, secretValue } from '../../../lib/lifecycle/secrets.ts';

const secrets: Secrets = async (name) => (name === 'MODEL_KEY' ? 'of the deployment' : undefined);

test('a secret is the variable of its name, or else what the deployment keeps under it', async () => {
  expect(await secretValue('MODEL_KEY', secrets, { MODEL_KEY: 'of the machine' })).toBe('of the machine');
  expect(await secretValue('MODEL_KEY', secrets, { MODEL_KEY: '' })).toBe('of the deployment');
  expect(await secretValue('MODEL_KEY', secrets, {})).toBe('of the deployment');
});

test.each(['MODLE_KEY', 'toString', ''])(
  'one that is not there is named, with what to set: %j',
  async (name) => {
    const missing = secretValue(name, secrets, { MODEL_KEY: 'hidden' });

    await expect(missing).rejects.toThrow(SecretUnavailableError);
    await expect(missing).rejects.toMatchObject({ code: 'secret_unavailable' });
    await expect(missing).rejects.toThrow(
      `there is no secret '${name}': set the variable ${name}, or name a secret for it in the setting worker.secrets`,
    );
  },
);

test('one without a source of secrets is read from the environment of the process', async () => {
  await expect(secretValue('NO_SUCH_VARIABLE_ANYWHERE')).rejects.toThrow(
    /no secret 'NO_SUCH_VARIABLE_ANYWHERE'/,
  );
  expect(await secretValue('PATH')).toBe(process.env.PATH);
});
