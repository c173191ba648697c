import { types } from 'node:util';
import { snapshotMaxBytes } from '../defaults.ts';
import { CorruptError, InvalidInputError, InvalidStateError, TooLargeError } from '../errors.ts';
import { checkFields, checkName, fieldsOf } from '../input.ts';
import { decodeState, type EncodedState, encodeState } from '../persistence/codec.ts';
import { packState, unpackState } from '../persistence/pack.ts';
import { isPlainObject } from '../persistence/plain-object.ts';
import type { Dump } from '../persistence/snapshot-store.ts';
import type { Identity } from '../sessions/session.ts';
import { digestOf } from './digest.ts';
import type { StoredRecord } from './memory-store.ts';
import type { Capsule, Message, NewMessage } from './message.ts';

/**
 * Packs any value as it is at the call: whoever changes it afterwards changes nothing of what is stored. One that cannot
 * be stored is named by its path below `field`.
 *
 * @throws InvalidInputError at once, not in the promise
 */
export function packValue(value: unknown, field: string): Promise<Dump> {
  return packed(encoded(value, field));
}

async function packed(state: EncodedState): Promise<Dump> {
  const dump = await packState(state);
  if (dump.data.length > snapshotMaxBytes) throw new TooLargeError(dump.data.length, snapshotMaxBytes);
  return dump;
}

function encoded(value: unknown, field: string): EncodedState {
  try {
    return encodeState(value);
  } catch (error) {
    if (!(error instanceof InvalidStateError)) throw error;
    const path = error.path?.slice('$'.length) ?? '';
    throw new InvalidInputError(`${field}${path}`, error.message, { cause: error });
  }
}

export async function unpackValue(dump: Dump): Promise<unknown> {
  return decodeState(dump.format, await unpackState(dump));
}

/** What is stored, packed, and what tells whether something that is sent later under its id is the same. */
export interface Packed {
  readonly dump: Promise<Dump>;
  readonly digest: Uint8Array;
}

/**
 * The stored form of a message as it is at the call: all of it but its id and its time, which the record has.
 *
 * @throws InvalidInputError at once, not in the promise
 */
export function packMessage(message: NewMessage, sender: Identity, field: string): Packed {
  const { content, source = null, metadata = {} } = message;
  if (content === undefined) throw new InvalidInputError(`${field}.content`, 'is missing');
  checkMetadata(`${field}.metadata`, metadata);
  const stored = { v: 1, content, sender: checkIdentity(sender, `${field}.sender`), source, metadata };
  return { dump: settledLater(packValue(stored, field)), digest: messageDigest(stored) };
}

/** Whoever reads it finds an object of names: a Map or a Date would be shown as a text. */
export function checkMetadata(
  field: string,
  metadata: unknown,
): asserts metadata is Readonly<Record<string, unknown>> {
  if (!isRecord(metadata) || types.isProxy(metadata) || !isPlainObject(metadata))
    throw new InvalidInputError(field, 'must be a plain object');
}

/** Of several that are packed at once, one that is too large must not end the process before it is awaited. */
function settledLater<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => {});
  return promise;
}

export async function unpackMessage({
  id,
  at,
  dump,
}: Pick<StoredRecord, 'id' | 'at' | 'dump'>): Promise<Message> {
  const { content, sender, source, metadata } = await unpackVersion1(dump);
  return { id, content, sender, timestamp: new Date(at).toISOString(), source, metadata } as Message;
}

/** @throws InvalidInputError at once, not in the promise */
export function packCapsule(capsule: Omit<Capsule, 'id' | 'createdAt'>): Packed {
  const stored = { v: 1, ...capsule };
  return { dump: settledLater(packValue(stored, 'capsule')), digest: digestOf(stored) };
}

export async function unpackCapsule({ id, at, dump }: StoredRecord): Promise<Capsule> {
  const { v, ...capsule } = await unpackVersion1(dump);
  return { id, ...capsule, createdAt: new Date(at).toISOString() } as Capsule;
}

async function unpackVersion1(dump: Dump): Promise<Record<string, unknown>> {
  const value = await unpackValue(dump);
  if (!isRecord(value) || value.v !== 1) throw new CorruptError('the stored record has another format');
  return value;
}

/** The same message sent again: its content and its sender are the same. Its time, source and metadata stay the first. */
function messageDigest({ content, sender }: Record<string, unknown>): Uint8Array {
  return digestOf({ content, sender: isRecord(sender) ? sender.id : undefined });
}

/** Records that were stored before they had a digest have it in their data. */
export async function digestOfMessage(record: StoredRecord): Promise<Uint8Array> {
  return record.digest ?? messageDigest(await unpackVersion1(record.dump));
}

export async function digestOfCapsule(record: StoredRecord): Promise<Uint8Array> {
  return record.digest ?? digestOf(await unpackVersion1(record.dump));
}

export function isSameDigest(first: Uint8Array, second: Uint8Array): boolean {
  return Buffer.from(first).equals(second);
}

const identityFields = fieldsOf<Identity>()({ id: 1, name: 1 });

export function checkIdentity(identity: unknown, field: string): Identity {
  if (!isRecord(identity)) throw new InvalidInputError(field, 'must be an object with an id');
  checkFields(field, identity, identityFields);
  const id = checkName(`${field}.id`, identity.id);
  const { name } = identity;
  if (name !== undefined && typeof name !== 'string')
    throw new InvalidInputError(`${field}.name`, 'must be a string');
  return name === undefined ? { id } : { id, name };
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
