import type { Adaptation, Template, TemplateResource } from './template.ts';

/** What the emulator asks a policy for where messages are sent in a batch. IAM knows no such action: to it, each is sent. */
export const batchAction = 'sqs:SendMessageBatch';

const iamAction = 'sqs:SendMessage';

/** Allows the emulator's own action wherever a policy allows the one that IAM knows. */
export function withBatchAction(template: Template): Adaptation {
  const lines: string[] = [];
  const resources = Object.entries(template.Resources).map(([id, resource]) => {
    const changed = resource.Type === 'AWS::IAM::Policy' ? allowed(resource) : resource;
    if (changed !== resource)
      lines.push(`changed: ${id} also allows ${batchAction}, which IAM does not know`);
    return [id, changed] as const;
  });
  return { template: { ...template, Resources: Object.fromEntries(resources) }, lines };
}

interface Document {
  readonly Statement: readonly { readonly Action?: string | readonly string[] }[];
}

function allowed(policy: TemplateResource): TemplateResource {
  const document = policy.Properties?.PolicyDocument as Document;
  const sends = document.Statement.map(({ Action }) => [Action ?? []].flat().includes(iamAction));
  if (!sends.includes(true)) return policy;
  const Statement = document.Statement.map((statement, index) =>
    sends[index] ? { ...statement, Action: [statement.Action ?? [], batchAction].flat() } : statement,
  );
  return { ...policy, Properties: { ...policy.Properties, PolicyDocument: { ...document, Statement } } };
}
