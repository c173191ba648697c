import type { Adaptation, Template, TemplateResource } from './template.ts';

/** The least that Lambda takes. */
const maximumConcurrency = 2;

/**
 * Has a queue's messages worked on two at a time. The emulator loses its hold of processes where it starts many of one
 * function at once: their messages then come again only after the visibility timeout, half an hour later.
 */
export function withFewWorkers(template: Template): Adaptation {
  const lines: string[] = [];
  const resources = Object.entries(template.Resources).map(([id, resource]) => {
    if (resource.Type !== 'AWS::Lambda::EventSourceMapping') return [id, resource] as const;
    lines.push(
      `changed: ${id} works on ${maximumConcurrency} messages at a time, as the emulator starts no more at once safely`,
    );
    return [id, limited(resource)] as const;
  });
  return { template: { ...template, Resources: Object.fromEntries(resources) }, lines };
}

function limited(mapping: TemplateResource): TemplateResource {
  const ScalingConfig = { MaximumConcurrency: maximumConcurrency };
  return { ...mapping, Properties: { ...mapping.Properties, ScalingConfig } };
}
