import type { ExportedMemory } from '../../lib/memory/agent-memory.ts';
import type { Capsule, Message } from '../../lib/memory/message.ts';
import { shownValue } from '../../lib/persistence/shown-value.ts';

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

export function shownExport({ messages, capsules, users, knowledge, ...rest }: ExportedMemory) {
  return {
    ...rest,
    messages: messages.map(shownMessage),
    capsules: capsules.map(shownCapsule),
    users: Object.fromEntries(Object.entries(users).map(([id, values]) => [id, shownValues(values)])),
    knowledge: shownValues(knowledge),
  };
}

function shownValues(values: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(values).map(([key, value]) => [key, shownValue(value)]));
}
