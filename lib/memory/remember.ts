import { hash } from 'node:crypto';
import pMap from 'p-map';
import { chunkConcurrency, rememberMaxMessages } from '../defaults.ts';
import type { Dump } from '../persistence/snapshot-store.ts';
import { checkName } from '../sessions/names.ts';
import type { Identity } from '../sessions/session.ts';
import type { MemoryContext } from './memory-context.ts';
import { IdConflictError, InvalidInputError } from './memory-error.ts';
import type { NewRecord } from './memory-store.ts';
import type { Message, NewMessage } from './message.ts';
import { isRecord, isSameMessage, packMessage, unpackMessage } from './message-codec.ts';
import { secondsOf } from './retention.ts';
import { parseTimestamp } from './timestamp.ts';

interface SentMessage {
  readonly id: string;
  readonly record: NewRecord & { readonly dump: Dump };
}

/**
 * Stores messages in the order given. Everything is checked before anything is stored.
 * 1. check and pack all, 2. fold those of one id into one, 3. find the session registered, 4. store, 5. compare with
 * what was stored before under an id.
 */
export async function rememberMessages(
  context: MemoryContext,
  messages: readonly NewMessage[],
  mustBeRegistered: () => Promise<void>,
): Promise<Message[]> {
  if (messages.length > rememberMaxMessages)
    throw new InvalidInputError('messages', `are ${messages.length}, the limit is ${rememberMaxMessages}`);
  const sent = await pMap(messages, (message, index) => checked(context, message, `messages[${index}]`), {
    concurrency: chunkConcurrency,
  });
  const first = await firstOfEachId(sent);
  await mustBeRegistered();
  const appended = await context.store.append(context.scope, 'message', {
    records: [...first.values()].map(({ record }) => record),
    receivedAt: context.clock().getTime(),
    retentionSecs: secondsOf(context.policy.rawRetentionSecs),
    requestId: requestIdOf(messages),
  });
  const conflicts: string[] = [];
  const stored = new Map<string, Message>();
  for (const { record, created } of appended) {
    const own = first.get(record.id)?.record.dump;
    if (!created && own !== undefined && !(await isSameMessage(record.dump, own))) conflicts.push(record.id);
    stored.set(record.id, await unpackMessage(record));
  }
  if (conflicts.length > 0) throw new IdConflictError(conflicts);
  return sent.map(({ id }) => stored.get(id)).filter((message) => message !== undefined);
}

async function checked(context: MemoryContext, message: NewMessage, field: string): Promise<SentMessage> {
  if (!isRecord(message)) throw new InvalidInputError(field, 'must be an object');
  const { timestamp } = message;
  const id = message.id === undefined ? context.newId() : checkName(`${field}.id`, message.id);
  const at = timestamp === undefined ? undefined : parseTimestamp(timestamp, `${field}.timestamp`);
  const dump = await packMessage(message, senderOf(context, message, field), field);
  return { id, record: { id, at, dump } };
}

function senderOf({ identity }: MemoryContext, message: NewMessage, field: string): Identity {
  const sender = message.sender ?? identity;
  if (sender === undefined)
    throw new InvalidInputError(`${field}.sender`, 'is missing, and this memory has no identity');
  return sender;
}

/** A message that is in the request twice is one. Two contents under one id contradict each other: nothing is stored. */
async function firstOfEachId(sent: readonly SentMessage[]): Promise<Map<string, SentMessage>> {
  const first = new Map<string, SentMessage>();
  for (const [index, message] of sent.entries()) {
    const known = first.get(message.id);
    if (known === undefined) first.set(message.id, message);
    else if (!(await isSameMessage(known.record.dump, message.record.dump)))
      throw new InvalidInputError(`messages[${index}].id`, 'stands for another message of the same request');
  }
  return first;
}

/** Only a request of several messages has an order to keep, and only one whose ids the caller chose can come again. */
function requestIdOf(messages: readonly NewMessage[]): string | undefined {
  if (messages.length < 2 || messages.some(({ id }) => id === undefined)) return undefined;
  const ids = messages.map(({ id }) => id);
  return hash('sha256', JSON.stringify(ids), 'base64url');
}
