import { hash } from 'node:crypto';
import { rememberMaxMessages } from '../defaults.ts';
import { IdConflictError, InvalidInputError } from '../errors.ts';
import { checkFields, checkName, fieldsOf } from '../input.ts';
import type { Identity } from '../sessions/session.ts';
import type { MemoryContext } from './memory-context.ts';
import type { Appended } from './memory-store.ts';
import type { Message, NewMessage } from './message.ts';
import { digestOfMessage, isSameDigest, type Packed, packMessage, unpackMessage } from './message-codec.ts';
import type { RetentionPolicy } from './retention.ts';
import { secondsOf } from './retention.ts';
import { parseTimestamp } from './timestamp.ts';

interface SentMessage extends Packed {
  readonly id: string;
  readonly at: number | undefined;
}

/**
 * Stores messages in the order given, as they are at the call. Everything is checked before anything is stored.
 * 1. check and encode all, before anything is waited for, 2. fold those of one id into one, 3. store, which finds the
 * session registered first, 4. compare with what was stored before under an id.
 */
export async function rememberMessages(
  context: MemoryContext,
  messages: readonly NewMessage[],
  mustBeRegistered: () => Promise<void>,
): Promise<Message[]> {
  if (messages.length > rememberMaxMessages)
    throw new InvalidInputError('messages', `are ${messages.length}, the limit is ${rememberMaxMessages}`);
  const receivedAt = context.clock();
  // Not `map`, which goes past what is missing.
  const sent = Array.from(messages, (message, index) =>
    checked(context, message, `messages[${index}]`, receivedAt),
  );
  const first = firstOfEachId(sent);
  const requestId = requestIdOf(messages, sent);
  const records = await Promise.all(
    [...first.values()].map(async ({ id, at, digest, dump }) => ({ id, at, digest, dump: await dump })),
  );
  const appended = await context.store.append(context.scope, 'message', {
    records,
    receivedAt: receivedAt.getTime(),
    retentionSecs: secondsOf(context.policy.rawRetentionSecs),
    requestId,
    admit: mustBeRegistered,
  });
  const conflicts: string[] = [];
  const stored = new Map<string, Message>();
  for (const outcome of appended) {
    const { id } = 'record' in outcome ? outcome.record : outcome.compacted;
    const own = first.get(id);
    if (own === undefined) continue;
    const created = 'record' in outcome && outcome.created;
    if (!created && !isSameDigest(await digestOf(outcome), own.digest)) conflicts.push(id);
    // Of a compacted message only its digest is left: what was sent again is what it was.
    const record =
      'record' in outcome ? outcome.record : { id, at: outcome.compacted.at, dump: await own.dump };
    stored.set(id, await unpackMessage(record));
  }
  if (conflicts.length > 0) throw new IdConflictError(conflicts);
  return sent.map(({ id }) => stored.get(id)).filter((message) => message !== undefined);
}

async function digestOf(outcome: Appended): Promise<Uint8Array> {
  return 'record' in outcome ? digestOfMessage(outcome.record) : outcome.compacted.digest;
}

const messageFields = fieldsOf<NewMessage>()({
  ...{ id: 1, content: 1, sender: 1, timestamp: 1, source: 1, metadata: 1 },
});

function checked(context: MemoryContext, message: NewMessage, field: string, now: Date): SentMessage {
  checkFields(field, message, messageFields);
  const { timestamp } = message;
  const id = message.id === undefined ? context.newId() : checkName(`${field}.id`, message.id);
  const at = timestamp === undefined ? undefined : parseTimestamp(timestamp, `${field}.timestamp`);
  if (at !== undefined) assertKept(context.policy, at, `${field}.timestamp`, now);
  return { id, at, ...packMessage(message, senderOf(context, message, field), field) };
}

/** What the policy has removed by now would be stored, acknowledged and never shown. */
function assertKept(policy: RetentionPolicy, at: number, field: string, now: Date): void {
  const seconds = secondsOf(policy.rawRetentionSecs);
  if (seconds === undefined) return;
  const removed = now.getTime() - seconds * 1000;
  if (at > removed) return;
  const [sent, limit] = [at, removed].map(isoOf);
  throw new InvalidInputError(
    field,
    `is ${sent}, but the retention policy '${policy.name}' removes messages up to ${limit}`,
  );
}

function isoOf(time: number): string {
  const date = new Date(time);
  return Number.isNaN(date.getTime()) ? String(time) : date.toISOString();
}

function senderOf({ identity }: MemoryContext, message: NewMessage, field: string): Identity {
  const sender = message.sender ?? identity;
  if (sender === undefined)
    throw new InvalidInputError(`${field}.sender`, 'is missing, and this memory has no identity');
  return sender;
}

/** A message that is in the request twice is one. Two contents under one id contradict each other: nothing is stored. */
function firstOfEachId(sent: readonly SentMessage[]): Map<string, SentMessage> {
  const first = new Map<string, SentMessage>();
  for (const [index, message] of sent.entries()) {
    const known = first.get(message.id);
    if (known === undefined) first.set(message.id, message);
    else if (!isSameDigest(known.digest, message.digest))
      throw new InvalidInputError(`messages[${index}].id`, 'stands for another message of the same request');
  }
  return first;
}

/**
 * Only a request of several messages has an order to keep, and only one whose ids the caller chose can come again: with
 * the same contents. The same ids with other contents, after a clear, are another request.
 */
function requestIdOf(messages: readonly NewMessage[], sent: readonly SentMessage[]): string | undefined {
  if (messages.length < 2 || messages.some(({ id }) => id === undefined)) return undefined;
  const parts = sent.map(({ id, digest }) => [id, Buffer.from(digest).toString('base64url')]);
  return hash('sha256', JSON.stringify(parts), 'base64url');
}
