import type { ExportedPart } from '../../../lib/memory/agent-memory.ts';
import type { Capsule, Message } from '../../../lib/memory/message.ts';
import { serializeValue } from '../../../lib/persistence/serialize-value.ts';

/*
 * What the library remembers may hold what JSON cannot carry, such as a Map or a bigint: one such value must not keep a
 * caller from all the others.
 */

export function serializeMessage(message: Message) {
  const { content, source, metadata } = message;
  return {
    ...message,
    ...{
      content: serializeValue(content),
      source: serializeValue(source),
      metadata: serializeValue(metadata),
    },
  };
}

/** Without what only the next compaction needs to know. */
export function serializeCapsule({ horizon, ...capsule }: Capsule) {
  const { summary, metadata } = capsule;
  return { ...capsule, summary: serializeValue(summary), metadata: serializeValue(metadata) };
}

export function serializePart(
  part: ExportedPart,
): ExportedPart<ReturnType<typeof serializeMessage>, ReturnType<typeof serializeCapsule>> {
  if (part.kind === 'message') return { ...part, value: serializeMessage(part.value) };
  if (part.kind === 'capsule') return { ...part, value: serializeCapsule(part.value) };
  return { ...part, value: serializeValue(part.value) };
}
