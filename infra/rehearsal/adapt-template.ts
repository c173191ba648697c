import { readFile, writeFile } from 'node:fs/promises';
import { withBatchAction } from './batch-action.ts';
import { withFewWorkers } from './few-workers.ts';
import { withoutLeftOut } from './left-out.ts';
import { withTimeOfEvent } from './scheduled-time.ts';
import type { Adaptation, Template } from './template.ts';
import { withoutTlsDemand } from './without-tls.ts';

/** Makes of a synthesized template one that the emulator can deploy. Resolves one line for each change. */
export async function adaptTemplate(templateFile: string): Promise<readonly string[]> {
  const { template, lines } = adapted(JSON.parse(await readFile(templateFile, 'utf8')));
  await writeFile(templateFile, JSON.stringify(template, null, 1));
  return lines;
}

function adapted(synthesized: Template): Adaptation {
  const steps = [withoutLeftOut, withoutTlsDemand, withTimeOfEvent, withBatchAction, withFewWorkers];
  return steps.reduce<Adaptation>(
    ({ template, lines }, step) => {
      const next = step(template);
      return { template: next.template, lines: [...lines, ...next.lines] };
    },
    { template: synthesized, lines: [] },
  );
}
