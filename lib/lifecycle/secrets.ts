import { DormouseError } from '../errors.ts';

/** Finds the value of a secret by the name that actions know it by; undefined where there is none of this name. */
export type Secrets = (name: string) => Promise<string | undefined>;

/** There is no secret of this name, or it could not be read. The message says what to set, and never a value. */
export class SecretUnavailableError extends DormouseError {
  readonly code = 'secret_unavailable';
}

/** A secret's value: where a variable of the process has it, that is it, as on a developer's machine. */
export async function secretValue(
  name: string,
  secrets: Secrets = async () => undefined,
  env: Readonly<Record<string, string | undefined>> = process.env,
): Promise<string> {
  const value = (Object.hasOwn(env, name) && env[name]) || (await secrets(name));
  if (value) return value;
  throw new SecretUnavailableError(
    `there is no secret '${name}': set the variable ${name}, or name a secret for it in the setting worker.secrets`,
  );
}
