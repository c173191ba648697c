import type { ExportedMemory } from './agent-memory.ts';
import { everyRecord } from './every-record.ts';
import type { MemoryContext } from './memory-context.ts';
import type { Capsule, Message } from './message.ts';
import { unpackCapsule, unpackMessage } from './message-codec.ts';
import { valuesOf } from './named-values.ts';

export async function exportMemory(context: MemoryContext): Promise<ExportedMemory> {
  const { store, scope, policy, clock } = context;
  const messages: Message[] = [];
  const capsules: Capsule[] = [];
  for await (const records of everyRecord(context, 'message'))
    messages.push(...(await Promise.all(records.map(unpackMessage))));
  for await (const records of everyRecord(context, 'capsule'))
    capsules.push(...(await Promise.all(records.map(unpackCapsule))));
  const users: [string, Record<string, unknown>][] = [];
  for (const identity of await store.listIdentities(scope))
    users.push([identity, await valuesOf(store, { kind: 'user', ...scope, identity })]);
  return {
    ...scope,
    exportedAt: clock().toISOString(),
    policy: policy.name,
    messages,
    capsules,
    users: Object.fromEntries(users),
    knowledge: await valuesOf(store, { kind: 'knowledge', agent: scope.agent }),
  };
}
