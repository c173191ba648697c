import { SecretsProvider } from '@aws-lambda-powertools/parameters/secrets';
import { environment } from '../../lib/environment.ts';
import { type Secrets, SecretUnavailableError } from '../../lib/lifecycle/secrets.ts';
import { messageOf } from '../../lib/message-of.ts';
import { once } from '../once.ts';
import { clientSettings } from '../services.ts';

/** A rotated secret is seen after so long. */
const maxAgeSecs = 300;

const provider = once(() => new SecretsProvider({ clientConfig: { ...clientSettings } }));

/** The secrets of the deployment (setting `worker.secrets`), each read from Secrets Manager on first use, and kept. */
export const deployedSecrets: Secrets = async (name) => {
  const names: Readonly<Record<string, string>> = JSON.parse(process.env[environment.secrets] ?? '{}');
  if (!Object.hasOwn(names, name)) return undefined;
  try {
    const value = await provider().get(names[name] ?? '', { maxAge: maxAgeSecs });
    return value === undefined || typeof value === 'string' ? value : Buffer.from(value).toString();
  } catch (error) {
    // What Secrets Manager says names the secret and the permission, never the value.
    const problem = `the secret '${name}' (${names[name]}) cannot be read: ${messageOf(error)}`;
    throw new SecretUnavailableError(problem, { cause: error });
  }
};
