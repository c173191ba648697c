import { batchAction } from './batch-action.ts';
import type { Template, TemplateResource } from './template.ts';

/** One action that the role of a function allows on one resource. */
export interface Grant {
  /** The function, as `nameOf` its logical id. */
  readonly fn: string;
  readonly action: string;
  /** References in braces: `{Snapshots}`, `{Snapshots}/index/*`, `*`. */
  readonly resource: string;
}

interface Statement {
  readonly Effect: string;
  readonly Action?: string | readonly string[];
  readonly Resource?: unknown;
}

type Policy = { readonly PolicyDocument: { readonly Statement: readonly Statement[] } };

/** Everything that the functions' roles allow, from the policies of the template. */
export function grantsOf(template: Template): Grant[] {
  return functionsOf(template).flatMap(([fn, { Properties }]) => {
    const role = referencesIn(Properties?.Role)[0];
    return role === undefined
      ? []
      : grantsOfRole(template, role).map((grant) => ({ fn: nameOf(fn), ...grant }));
  });
}

export function functionsOf({ Resources }: Template): [string, TemplateResource][] {
  return Object.entries(Resources).filter(([, { Type }]) => Type === 'AWS::Lambda::Function');
}

/** A logical id without the digest that the CDK ends it with. */
export function nameOf(logicalId: string): string {
  return logicalId.replace(/[0-9A-F]{8}$/, '');
}

function grantsOfRole({ Resources }: Template, role: string): Omit<Grant, 'fn'>[] {
  const own = Resources[role]?.Properties ?? {};
  const managed = ((own.ManagedPolicyArns ?? []) as unknown[]).map((arn) => ({
    action: `policy ${resourceText(arn).split('/').at(-1)}`,
    resource: '*',
  }));
  const inline = (own.Policies ?? []) as Policy[];
  const attached = Object.values(Resources)
    .filter(({ Type }) => Type === 'AWS::IAM::Policy' || Type === 'AWS::IAM::ManagedPolicy')
    .filter(({ Properties }) => referencesIn(Properties?.Roles).includes(role))
    .map(({ Properties }) => Properties as unknown as Policy);
  const statements = [...inline, ...attached].flatMap(({ PolicyDocument }) => PolicyDocument.Statement);
  return [...managed, ...statements.filter(({ Effect }) => Effect === 'Allow').flatMap(pairsOf)];
}

function pairsOf({ Action, Resource }: Statement): Omit<Grant, 'fn'>[] {
  // NotAction allows everything else: as good as a wildcard, and as little explained.
  const actions = Action === undefined ? ['*'] : [Action].flat().filter((action) => action !== batchAction);
  const resources = [Resource ?? '*'].flat().map(resourceText);
  return actions.flatMap((action) => resources.map((resource) => ({ action, resource })));
}

/** An ARN expression with the logical ids it refers to in braces, without the parts that name partition and account. */
export function resourceText(value: unknown): string {
  if (typeof value === 'string') return value;
  const [name, argument] = Object.entries(value as object)[0] ?? [];
  if (name === 'Ref') return `{${argument}}`;
  if (name === 'Fn::GetAtt') return `{${[argument].flat()[0]}}`;
  if (name === 'Fn::Join') return (argument[1] as unknown[]).map(resourceText).join(argument[0]);
  if (name === 'Fn::Sub') return String([argument].flat()[0]).replace(/\$\{([\w:]+)(?:\.\w+)?\}/g, '{$1}');
  return JSON.stringify(value);
}

/** The logical ids that an expression, or a list of them, refers to. */
export function referencesIn(value: unknown): string[] {
  const text = [value ?? []].flat().map(resourceText).join(' ');
  return [...text.matchAll(/\{(\w+)\}/g)].map(([, id]) => id ?? '');
}
