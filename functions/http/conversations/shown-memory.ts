import type { ExportedPart } from '../../../lib/memory/agent-memory.ts';
import type { Capsule, Message } from '../../../lib/memory/message.ts';
import { shownValue } from '../../../lib/persistence/shown-value.ts';

/*
 * What the library remembers may hold what JSON cannot carry, such as a Map or a bigint: one such value must not keep a
 * caller from all the others.
 */

export function shownMessage(message: Message) {
  const { content, source, metadata } = message;
  return {
    ...message,
    ...{ content: shownValue(content), source: shownValue(source), metadata: shownValue(metadata) },
  };
}

/** Without what only the next compaction needs to know. */
export function shownCapsule({ horizon, ...capsule }: Capsule) {
  const { summary, metadata } = capsule;
  return { ...capsule, summary: shownValue(summary), metadata: shownValue(metadata) };
}

export function shownPart(
  part: ExportedPart,
): ExportedPart<ReturnType<typeof shownMessage>, ReturnType<typeof shownCapsule>> {
  if (part.kind === 'message') return { ...part, value: shownMessage(part.value) };
  if (part.kind === 'capsule') return { ...part, value: shownCapsule(part.value) };
  return { ...part, value: shownValue(part.value) };
}
