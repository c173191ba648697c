import { functionMemoryMb } from './service-functions.ts';
import { anObject, flag, type Kind, listOf, wholeNumber } from './setting-kinds.ts';

/** What actions need: variables, secrets, models, memory to work in, and whom webhooks may reach. */
export interface WorkerSettings {
  readonly environment: Readonly<Record<string, string>>;
  /** Of each variable the name, or the full ARN, of a secret in Secrets Manager. */
  readonly secrets: Readonly<Record<string, string>>;
  /** Ids or ARNs of models and inference profiles that actions may invoke. */
  readonly bedrockModels: readonly string[];
  /** Megabytes. */
  readonly memorySize: number;
  /** Whether webhooks may reach addresses of private networks. */
  readonly allowPrivateAddresses: boolean;
}

type Context = Readonly<Record<string, unknown>>;
type Refuse = (problem: string) => void;

/** What the values of an object may be. */
interface Values {
  readonly accepts: (value: string) => boolean;
  readonly expected: string;
}

const variable = /^[A-Za-z][A-Za-z0-9_]*$/;
const reserved = ['AWS_', 'LAMBDA_', 'DORMOUSE_', 'POWERTOOLS_'];
const secretName = /^[\w/+=.@-]{1,512}$/;
/** With the six characters that Secrets Manager ends it with: a role is allowed what is named whole. */
const secretArn = /^arn:aws[\w-]*:secretsmanager:[\w-]+:\d{12}:secret:[\w/+=.@-]+-[A-Za-z0-9]{6}$/;
const modelId = /^[\w-]+\.[\w.:-]+$/;
const modelArn = /^arn:aws[\w-]*:bedrock:[\w-]*:\d*:[a-z-]+\/[\w.:-]+$/;

/** Lambda takes 4 KB of variables in all, names and values, of which Dormouse's own have about a quarter. */
const variablesMaxBytes = 3000;

const models: Kind<readonly string[]> = {
  parse: (value) => listOf(value, (item) => modelId.test(item) || modelArn.test(item)),
  expected: "a list of ids or ARNs of models or inference profiles, such as 'amazon.nova-lite-v1:0'",
};
const texts: Values = { accepts: () => true, expected: 'a string' };
const secretIds: Values = {
  accepts: (value) => secretName.test(value) || secretArn.test(value),
  expected: 'the name of a secret in Secrets Manager, or its full ARN',
};
const memory = wholeNumber(functionMemoryMb, 10_240);

const names = ['environment', 'secrets', 'bedrockModels', 'memorySize', 'allowPrivateAddresses'] as const;
type Name = (typeof names)[number];

/**
 * Reads `worker` out of a CDK context, and `worker.memorySize` and the like, which win. What is wrong goes to `refuse`,
 * without the values: what stands in the wrong place may be a secret.
 */
export function parseWorker(context: Context, refuse: Refuse): WorkerSettings {
  const expected = `an object of ${names.join(', ')}`;
  const given = read('worker', context.worker, { ...anObject, expected }, refuse) ?? {};
  const dotted = Object.entries(context).flatMap(([key, value]) =>
    key.startsWith('worker.') ? [[key.slice('worker.'.length), value]] : [],
  );
  const settings: Context = { ...given, ...Object.fromEntries(dotted) };
  for (const name of Object.keys(settings).filter((name) => !names.includes(name as Name)))
    refuse(`worker.${name} is not a setting; these are: ${names.join(', ')}`);

  const settingOf = <T>(name: Name, kind: Kind<T>) => read(`worker.${name}`, settings[name], kind, refuse);
  const recordOf = (name: Name, values: Values) =>
    checkedRecord(`worker.${name}`, settingOf(name, anObject) ?? {}, values, refuse);
  const worker = {
    environment: recordOf('environment', texts),
    secrets: recordOf('secrets', secretIds),
    bedrockModels: settingOf('bedrockModels', models) ?? [],
    memorySize: settingOf('memorySize', memory) ?? functionMemoryMb,
    allowPrivateAddresses: settingOf('allowPrivateAddresses', flag) ?? false,
  };
  checkTogether(worker, refuse);
  return worker;
}

function read<T>(name: string, value: unknown, { parse, expected }: Kind<T>, refuse: Refuse): T | undefined {
  if (value === undefined || value === null || value === '') return undefined;
  const parsed = parse(value);
  if (parsed === undefined) refuse(`${name} must be ${expected}`);
  return parsed;
}

function checkedRecord(
  setting: string,
  given: Context,
  values: Values,
  refuse: Refuse,
): Readonly<Record<string, string>> {
  for (const [name, value] of Object.entries(given)) {
    if (!variable.test(name))
      refuse(`${setting}.${name} must be named with letters, digits and '_', a letter first`);
    else if (reserved.some((prefix) => name.startsWith(prefix)))
      refuse(`${setting}.${name} must not begin with ${reserved.join(', ')}: Lambda and Dormouse set those`);
    else if (typeof value !== 'string' || !values.accepts(value))
      refuse(`${setting}.${name} must be ${values.expected}`);
  }
  return given as Readonly<Record<string, string>>;
}

function checkTogether({ environment, secrets, bedrockModels }: WorkerSettings, refuse: Refuse): void {
  for (const name of Object.keys(secrets).filter((secret) => Object.hasOwn(environment, secret)))
    refuse(`worker.secrets.${name} must have another name: worker.environment has a variable of this one`);
  const bytes = Buffer.byteLength(JSON.stringify({ environment, secrets, bedrockModels }));
  if (bytes > variablesMaxBytes)
    refuse(
      `worker.environment, worker.secrets and worker.bedrockModels must be at most ${variablesMaxBytes} bytes together, for which a function has room: they are ${bytes}`,
    );
}
