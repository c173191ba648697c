import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Overlap } from '../lib/runs/run.ts';
import { projectRoot } from './project.ts';
import {
  audiences,
  emailAddress,
  flag,
  httpsUrl,
  type Kind,
  oneOf,
  origins,
  type Scopes,
  scopes,
  type Throttle,
  throttling,
  word,
} from './setting-kinds.ts';
import { type Context, contextOfStage, defaultStage } from './stages.ts';
import { parseWorker, type WorkerSettings } from './worker-settings.ts';

/** What a deployment can choose, complete: every default is in. The CDK context's words for it are in the README. */
export interface Settings {
  /** Tells deployments in one account apart: it ends the stack's name. */
  readonly stage: string;
  /** Keep tables and logs when they leave the stack, and protect tables from deletion. */
  readonly retain: boolean;
  /** The agents module, as an absolute path. */
  readonly agents: string;
  readonly auth: IamAuth | JwtAuth;
  readonly strictAgents: boolean;
  /** Whether callers are shown the stacks of the error log, which name files of the deployment. */
  readonly showStacks: boolean;
  /** What happens to a run while another one of its action is still going. */
  readonly overlap: Overlap;
  readonly alarmEmail: string | undefined;
  readonly worker: WorkerSettings;
  readonly throttle: Throttle;
  /** Origins of browser pages that may call the API; none: no CORS. */
  readonly corsOrigins: readonly string[];
  /** What a deployer should know before it is done. */
  readonly warnings: readonly SettingsWarning[];
}

interface SettingsWarning {
  readonly id: string;
  readonly text: string;
}

interface IamAuth {
  readonly kind: 'iam';
}

export interface JwtAuth {
  readonly kind: 'jwt';
  readonly issuer: string;
  readonly audience: readonly string[];
  readonly tenantClaim: string | undefined;
  /** Scopes that a token must have: to read, to write, to start runs. */
  readonly scopes: Scopes;
}

const kinds = {
  stage: word(/^[A-Za-z][A-Za-z0-9-]{0,63}$/, 'letters, digits and hyphens, at most 64, a letter first'),
  retain: flag,
  agents: word(/\.[cm]?[jt]s$/, 'the path of a TypeScript or JavaScript file'),
  auth: oneOf('iam', 'jwt'),
  jwtIssuer: httpsUrl,
  jwtAudience: audiences,
  tenantClaim: word(/^[^\s"']+$/, 'the name of a claim'),
  jwtScopes: scopes,
  sharedByAllCallers: flag,
  strictAgents: flag,
  showStacks: flag,
  overlap: oneOf('skip', 'allow'),
  alarmEmail: emailAddress,
  throttle: throttling,
  corsOrigins: origins,
};

const names = [...Object.keys(kinds), 'worker', 'stages'];
/** What decides who sees what. */
const ofCallers = ['auth', 'tenantClaim'];

/** Says everything that is wrong with the settings at once, each by its name. */
export class InvalidSettingsError extends Error {
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(['the settings (CDK context) are not valid:', ...problems].join('\n  '));
    this.name = 'InvalidSettingsError';
    this.problems = problems;
  }
}

/**
 * Reads the settings of the wanted stage out of a CDK context, where a value given with `-c` is always a string.
 *
 * @param file what cdk.json says: what differs from it was given on the command line, and wins over what `stages` says
 * @param folder where paths start: the project's, but for a bundle, which lies elsewhere
 * @example
 * parseSettings({ stage: 'prod', alarmEmail: 'ops@example.com' });
 */
export function parseSettings(given: Context, file: Context = given, folder = projectRoot): Settings {
  const problems = Object.keys(given).filter(isMisspelled).map(misspelling);
  const { context, overridden } = contextOfStage(given, file, names, (problem) => problems.push(problem));

  function read<T>(name: keyof typeof kinds, { parse, expected }: Kind<T>): T | undefined {
    const value = context[name];
    if (value === undefined || value === null || value === '') return undefined;
    const parsed = parse(value);
    if (parsed === undefined) problems.push(`${name} must be ${expected}, not ${JSON.stringify(value)}`);
    return parsed;
  }

  const agents = resolve(folder, read('agents', kinds.agents) ?? 'functions/agents.ts');
  if (!existsSync(agents)) problems.push(`agents names a file that does not exist: ${agents}`);

  const jwt = {
    issuer: read('jwtIssuer', kinds.jwtIssuer),
    audience: read('jwtAudience', kinds.jwtAudience),
    tenantClaim: read('tenantClaim', kinds.tenantClaim),
    scopes: read('jwtScopes', kinds.jwtScopes) ?? {},
  };
  const isShared = read('sharedByAllCallers', kinds.sharedByAllCallers) ?? false;
  const auth = read('auth', kinds.auth) ?? 'iam';
  problems.push(...(auth === 'jwt' ? missingForJwt(context) : uselessWithoutJwt(context)));

  const settings: Settings = {
    stage: read('stage', kinds.stage) ?? defaultStage,
    retain: read('retain', kinds.retain) ?? true,
    agents,
    auth:
      auth === 'jwt'
        ? { kind: 'jwt', ...jwt, issuer: jwt.issuer ?? '', audience: jwt.audience ?? [] }
        : { kind: 'iam' },
    strictAgents: read('strictAgents', kinds.strictAgents) ?? false,
    showStacks: read('showStacks', kinds.showStacks) ?? true,
    overlap: read('overlap', kinds.overlap) ?? 'skip',
    alarmEmail: read('alarmEmail', kinds.alarmEmail),
    throttle: read('throttle', kinds.throttle) ?? { rateLimit: 500, burstLimit: 1000 },
    corsOrigins: read('corsOrigins', kinds.corsOrigins) ?? [],
    worker: parseWorker(context, (problem) => problems.push(problem)),
    warnings: [
      ...outOfSight(String(context.stage), overridden),
      ...(auth === 'jwt' && jwt.tenantClaim === undefined && !isShared ? [everyoneSeesAll] : []),
    ],
  };
  if (isShared && (auth !== 'jwt' || jwt.tenantClaim !== undefined))
    problems.push("sharedByAllCallers has no meaning but with auth 'jwt' and without tenantClaim");
  if (problems.length > 0) throw new InvalidSettingsError(problems);
  return settings;
}

const everyoneSeesAll: SettingsWarning = {
  id: 'dormouse:everyCallerSeesAll',
  text: 'Every caller with a token of the issuer sees and changes everything: set tenantClaim, or say sharedByAllCallers=true where that is meant.',
};

/** What is stored under one scheme of tenants is not there under another. */
function outOfSight(stage: string, overridden: readonly string[]): SettingsWarning[] {
  const changed = overridden.filter((name) => ofCallers.includes(name));
  if (changed.length === 0) return [];
  const text = `The command line gives the stage '${stage}' another ${changed.join(' and ')} than cdk.json: what was stored without it is out of sight of callers.`;
  return [{ id: 'dormouse:otherTenants', text }];
}

function isSet(context: Context, name: string): boolean {
  return ![undefined, null, ''].includes(context[name] as undefined);
}

function missingForJwt(context: Context): string[] {
  const missing = ['jwtIssuer', 'jwtAudience'].filter((name) => !isSet(context, name));
  return missing.map((name) => `${name} is required with auth 'jwt'`);
}

/** A tenant claim that nothing checks would look like separation of tenants where there is none. */
function uselessWithoutJwt(context: Context): string[] {
  const useless = ['jwtIssuer', 'jwtAudience', 'tenantClaim', 'jwtScopes'].filter((name) =>
    isSet(context, name),
  );
  return useless.map((name) => `${name} has no meaning without auth 'jwt'`);
}

/** The CDK's own keys hold `:`, `/` or `-`. A plain word that is no setting is one that somebody meant to make. */
function isMisspelled(key: string): boolean {
  return /^[A-Za-z]+(\.|$)/.test(key) && !names.includes(key) && !key.startsWith('worker.');
}

function misspelling(key: string): string {
  return `${key} is not a setting; these are: ${names.join(', ')}`;
}
