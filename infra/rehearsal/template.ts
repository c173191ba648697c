import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { assemblyOf } from './cdk.ts';

/** What the rehearsal reads of a synthesized template. */
export interface Template {
  readonly Resources: Readonly<Record<string, TemplateResource>>;
}

export interface TemplateResource {
  readonly Type: string;
  readonly Properties?: Readonly<Record<string, unknown>>;
  readonly Metadata?: Readonly<Record<string, unknown>>;
}

/** A template as the emulator takes it, with a line for each thing that was changed. */
export interface Adaptation {
  readonly template: Template;
  readonly lines: readonly string[];
}

export interface DeployedStack {
  readonly name: string;
  readonly template: Template;
  readonly outputs: Readonly<Record<string, string>>;
}

/** The app's one stack, from the folder of its deployment. */
export async function readStack(folder: string): Promise<DeployedStack> {
  const template = JSON.parse(await readFile(await templateFile(folder), 'utf8'));
  const outputs: Record<string, Record<string, string>> = JSON.parse(
    await readFile(join(folder, 'outputs.json'), 'utf8'),
  );
  const [name, ofStack] = single(Object.entries(outputs));
  return { name, template, outputs: ofStack };
}

/** The template in the folder's assembly. */
export async function templateFile(folder: string): Promise<string> {
  const assembly = assemblyOf(folder);
  const files = await readdir(assembly);
  return join(assembly, single(files.filter((name) => name.endsWith('.template.json'))));
}

function single<T>(items: readonly T[]): T {
  const [item] = items;
  if (item === undefined || items.length > 1) throw new Error(`expected one stack, found ${items.length}`);
  return item;
}

export function output({ outputs }: DeployedStack, name: string): string {
  const value = outputs[name];
  if (value === undefined) throw new Error(`the stack has no output ${name}`);
  return value;
}

/** `3 AWS::Lambda::Function, 1 …`, most first. */
export function countTypes({ Resources }: Template): string {
  const counts = new Map<string, number>();
  for (const { Type } of Object.values(Resources)) counts.set(Type, (counts.get(Type) ?? 0) + 1);
  const sorted = [...counts].sort(([a, m], [b, n]) => n - m || a.localeCompare(b));
  return sorted.map(([type, count]) => `${count} ${type.replace('AWS::', '')}`).join(', ');
}
