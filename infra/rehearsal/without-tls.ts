import type { Adaptation, Template, TemplateResource } from './template.ts';

interface Statement {
  readonly Effect: string;
  readonly Condition?: unknown;
}

/**
 * Takes the statements that refuse requests without TLS out of the queues' policies: the emulator enforces them and
 * does not offer TLS here. In the template and not after the deployment, since a schedule may be due before that.
 */
export function withoutTlsDemand(template: Template): Adaptation {
  const lines: string[] = [];
  const resources = Object.entries(template.Resources).flatMap(([id, resource]) => {
    const statements = statementsOf(resource);
    const kept = statements.filter((statement) => !demandsTls(statement));
    if (kept.length === statements.length) return [[id, resource] as const];
    lines.push(`changed: ${id} does not demand TLS, which the emulator does not offer here`);
    if (kept.length === 0) return [];
    const PolicyDocument = { ...documentOf(resource), Statement: kept };
    return [[id, { ...resource, Properties: { ...resource.Properties, PolicyDocument } }] as const];
  });
  return { template: { ...template, Resources: Object.fromEntries(resources) }, lines };
}

function documentOf({ Properties }: TemplateResource): { readonly Statement?: readonly Statement[] } {
  return Properties?.PolicyDocument ?? {};
}

function statementsOf(resource: TemplateResource): readonly Statement[] {
  return resource.Type === 'AWS::SQS::QueuePolicy' ? (documentOf(resource).Statement ?? []) : [];
}

function demandsTls({ Effect, Condition }: Statement): boolean {
  return Effect === 'Deny' && JSON.stringify(Condition ?? {}) === '{"Bool":{"aws:SecureTransport":"false"}}';
}
