import type { Adaptation, Template, TemplateResource } from './template.ts';

/** A kind of resource that the emulator refuses, with its words for it: these stay out of the rehearsed deployment. */
export interface LeftOut {
  readonly what: string;
  readonly reason: string;
  readonly is: (resource: TemplateResource) => boolean;
}

const leftOut: readonly LeftOut[] = [
  {
    what: 'alarms on a sum of metrics',
    reason: 'AWS::CloudWatch::Alarm Properties.Metrics (metric math) is not supported',
    is: ({ Type, Properties }) => Type === 'AWS::CloudWatch::Alarm' && Properties?.Metrics !== undefined,
  },
];

/** Takes what the emulator refuses out of a template. */
export function withoutLeftOut(template: Template, kinds: readonly LeftOut[] = leftOut): Adaptation {
  const lines: string[] = [];
  const resources = Object.entries(template.Resources).filter(([id, resource]) => {
    const kind = kinds.find(({ is }) => is(resource));
    if (kind !== undefined) lines.push(`left out: ${id} (${kind.what}): ${kind.reason}`);
    return kind === undefined;
  });
  return { template: { ...template, Resources: Object.fromEntries(resources) }, lines };
}
