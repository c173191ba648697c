import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { nearestName } from '../lib/input.ts';
import { anObject } from './setting-kinds.ts';

export type Context = Readonly<Record<string, unknown>>;

export interface StageContext {
  /** The settings of the stage, as they are parsed. */
  readonly context: Context;
  /** Of these, what the command line gave a stage of `stages` that it has not, or otherwise. */
  readonly overridden: readonly string[];
}

export const defaultStage = 'dev';

/**
 * What holds for the stage that is wanted: what the command line gave, over what stands under the stage's name in
 * `stages`, over what stands at the top. Variables and the like of `worker` are put together name by name.
 *
 * @param context all that the CDK knows: it does not tell what of it was given on the command line
 * @param file what cdk.json says; what differs from it was given
 * @param names of settings, in a stage too
 */
export function contextOfStage(
  context: Context,
  file: Context,
  names: readonly string[],
  refuse: (problem: string) => void,
): StageContext {
  const isGiven = ([name, value]: [string, unknown]) => !isDeepStrictEqual(value, file[name]);
  const given = Object.fromEntries(Object.entries(context).filter(isGiven));
  const stages = objectOf(context.stages);
  const stage = String(given.stage || file.stage || defaultStage);
  if (context.stages !== undefined && stages === undefined)
    refuse('stages must be an object: the settings of each stage under its name');
  const own = objectOf(stages?.[stage]);
  const known = Object.keys(stages ?? {});
  if (own === undefined && (stages?.[stage] !== undefined || (known.length > 0 && stage !== defaultStage)))
    refuse(`stages has no settings for '${stage}'; it has ${known.join(', ')}${hint(stage, known)}`);
  for (const [of, settings] of Object.entries(stages ?? {}))
    for (const name of Object.keys(objectOf(settings) ?? {}).filter((one) => !isSetting(one, names)))
      refuse(`stages.${of}.${name} is not a setting${name === 'stage' ? '' : hint(name, names)}`);

  const { stages: _stages, ...wanted } = given;
  const { stages: _all, ...top } = file;
  const before: Context = { auth: 'iam', ...top, ...own };
  const workers = [top.worker, own?.worker].filter((worker) => worker !== undefined && worker !== '');
  const wrong = workers.find((worker) => anObject.parse(worker) === undefined);
  const worker = wrong ?? { ...workerOf(top), ...workerOf(own ?? {}) };
  return {
    context: { ...withoutWorker(top), ...withoutWorker(own ?? {}), worker, ...wanted, stage },
    overridden: Object.keys(wanted).filter(
      (name) => own !== undefined && !isDeepStrictEqual(before[name] ?? '', wanted[name]),
    ),
  };
}

/** The context that the cdk.json of a folder says; none where there is none. */
export function cdkJson(folder: string): Context {
  const file = join(folder, 'cdk.json');
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')).context ?? {}) : {};
}

function isSetting(name: string, names: readonly string[]): boolean {
  return (names.includes(name) && name !== 'stage') || name.startsWith('worker.');
}

function hint(name: string, known: readonly string[]): string {
  const nearest = nearestName(name, known);
  return nearest === undefined ? '' : `; did you mean '${nearest}'?`;
}

/** `worker` as one object, also where some of it is written with dots. */
function workerOf(context: Context): Context {
  const dotted = Object.entries(context).filter(([name]) => name.startsWith('worker.'));
  const own = dotted.map(([name, value]) => [name.slice('worker.'.length), value]);
  return { ...anObject.parse(context.worker), ...Object.fromEntries(own) };
}

function withoutWorker(context: Context): Context {
  return Object.fromEntries(
    Object.entries(context).filter(([name]) => name !== 'worker' && !name.startsWith('worker.')),
  );
}

function objectOf(value: unknown): Context | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Context)
    : undefined;
}
