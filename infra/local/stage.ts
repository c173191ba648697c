import { environment } from '../../lib/environment.ts';
import { type JwtAuth, parseSettings, type Settings } from '../settings.ts';
import { type Context, cdkJson } from '../stages.ts';

/** The settings of a stage that a local server keeps to. */
export interface StageSettings {
  readonly strictAgents: boolean;
  readonly overlap: Settings['overlap'];
  readonly showStacks: boolean;
  /** Set: callers need a token, of which everything is looked at but who has signed it. */
  readonly jwt: JwtAuth | undefined;
}

/**
 * The settings of a stage, as the cdk.json of that folder has them.
 *
 * @throws InvalidSettingsError
 */
export function settingsOfStage(folder: string, stage: string): Settings {
  const file: Context = cdkJson(folder);
  return parseSettings({ ...file, stage }, file, folder);
}

export function localSettings({ strictAgents, overlap, showStacks, auth }: Settings): StageSettings {
  return { strictAgents, overlap, showStacks, jwt: auth.kind === 'jwt' ? auth : undefined };
}

/** The variables of the worker, as a deployment sets them: those that are set already stay. Secrets are variables here. */
export function setWorkerVariables({ worker }: Settings, env: NodeJS.ProcessEnv): void {
  const variables = {
    ...worker.environment,
    ...(worker.bedrockModels.length > 0 && { [environment.bedrockModels]: worker.bedrockModels.join() }),
    ...(worker.allowPrivateAddresses && { [environment.allowPrivateAddresses]: 'true' }),
  };
  for (const [name, value] of Object.entries(variables)) env[name] ??= value;
}
