import type { ExportedMemory, ExportedPart } from './agent-memory.ts';
import { inPagesOfBytes } from './every-record.ts';
import type { MemoryContext } from './memory-context.ts';
import type { RecordKind, StoredRecord, ValueScope } from './memory-store.ts';
import type { Capsule, Message } from './message.ts';
import { unpackCapsule, unpackMessage, unpackValue } from './message-codec.ts';
import { everyValue } from './named-values.ts';

/** What is held at a time is a page of about a megabyte, packed, and the names of the identities. */
export async function* exportParts(context: MemoryContext): AsyncGenerator<ExportedPart, void, undefined> {
  const { store, scope } = context;
  for await (const record of recordsOf(context, 'message'))
    yield { kind: 'message', value: await unpackMessage(record) };
  for await (const record of recordsOf(context, 'capsule'))
    yield { kind: 'capsule', value: await unpackCapsule(record) };
  for (const identity of await store.listIdentities(scope)) {
    const user: ValueScope = { kind: 'user', ...scope, identity };
    for await (const { key, dump } of everyValue(store, user))
      yield { kind: 'user', identity, key, value: await unpackValue(dump) };
  }
  const knowledge: ValueScope = { kind: 'knowledge', agent: scope.agent };
  for await (const { key, dump } of everyValue(store, knowledge))
    yield { kind: 'knowledge', key, value: await unpackValue(dump) };
}

function recordsOf(
  { store, scope }: MemoryContext,
  kind: RecordKind,
): AsyncGenerator<StoredRecord, void, undefined> {
  return inPagesOfBytes((query) => store.list(scope, kind, { order: 'asc', ...query }));
}

export async function exportMemory(context: MemoryContext): Promise<ExportedMemory> {
  const { scope, policy, clock } = context;
  const collected = new ExportCollector<Message, Capsule>();
  for await (const part of exportParts(context)) collected.add(part);
  return {
    ...scope,
    exportedAt: clock().toISOString(),
    policy: policy.name,
    ...collected.memory(),
  };
}

/** Puts parts together, with messages and capsules as they are, or as they are shown. */
export class ExportCollector<M, C> {
  readonly #messages: M[] = [];
  readonly #capsules: C[] = [];
  readonly #users = new Map<string, [string, unknown][]>();
  readonly #knowledge: [string, unknown][] = [];

  add(part: ExportedPart<M, C>): void {
    if (part.kind === 'message') this.#messages.push(part.value);
    else if (part.kind === 'capsule') this.#capsules.push(part.value);
    else if (part.kind === 'knowledge') this.#knowledge.push([part.key, part.value]);
    else {
      const values = this.#users.get(part.identity) ?? [];
      this.#users.set(part.identity, values);
      values.push([part.key, part.value]);
    }
  }

  memory() {
    const users = [...this.#users].map(([identity, values]) => [identity, Object.fromEntries(values)]);
    return {
      messages: this.#messages,
      capsules: this.#capsules,
      users: Object.fromEntries(users) as Record<string, Record<string, unknown>>,
      knowledge: Object.fromEntries(this.#knowledge) as Record<string, unknown>,
    };
  }
}
