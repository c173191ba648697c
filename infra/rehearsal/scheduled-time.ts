import type { Adaptation, Template, TemplateResource } from './template.ts';

/** What Scheduler puts the time in place of at which a schedule was due; the emulator leaves it as it stands. */
const placeholder = '"<aws.scheduler.scheduled-time>"';

/**
 * Gives the schedules of Scheduler the time by the means that the emulator has: the transformer of a rule's target, which
 * Scheduler does not have and the emulator applies to it all the same. The dispatcher gets the same event.
 */
export function withTimeOfEvent(template: Template): Adaptation {
  const lines: string[] = [];
  const resources = Object.entries(template.Resources).map(([id, resource]) => {
    const changed = transformed(resource);
    if (changed !== undefined)
      lines.push(`changed: ${id} has its time from a transformer: the emulator knows no ${placeholder}`);
    return [id, changed ?? resource] as const;
  });
  return { template: { ...template, Resources: Object.fromEntries(resources) }, lines };
}

function transformed({ Properties, ...resource }: TemplateResource): TemplateResource | undefined {
  const { Input, ...target } = (Properties?.Target ?? {}) as { readonly Input?: unknown };
  if (typeof Input !== 'string' || !Input.includes(placeholder)) return undefined;
  const InputTransformer = {
    InputPathsMap: { time: '$.time' },
    InputTemplate: Input.replace(placeholder, '<time>'),
  };
  return { ...resource, Properties: { ...Properties, Target: { ...target, InputTransformer } } };
}
