import { isDeepStrictEqual } from 'node:util';
import { snapshotMaxBytes } from '../defaults.ts';
import { decodeState, encodeState } from '../persistence/codec.ts';
import { packState, unpackState } from '../persistence/pack.ts';
import { CorruptError, InvalidStateError, TooLargeError } from '../persistence/persistence-error.ts';
import type { Dump } from '../persistence/snapshot-store.ts';
import { checkName } from '../sessions/names.ts';
import type { Identity } from '../sessions/session.ts';
import { InvalidInputError } from './memory-error.ts';
import type { StoredRecord } from './memory-store.ts';
import type { Capsule, Message, NewMessage } from './message.ts';

/** Packs any value; one that cannot be stored is named by its path below `field`. */
export async function packValue(value: unknown, field: string): Promise<Dump> {
  try {
    const dump = await packState(encodeState(value));
    if (dump.data.length > snapshotMaxBytes) throw new TooLargeError(dump.data.length, snapshotMaxBytes);
    return dump;
  } catch (error) {
    if (!(error instanceof InvalidStateError)) throw error;
    const path = error.path?.replace(/^\$/, '') ?? '';
    throw new InvalidInputError(`${field}${path}`, error.message, { cause: error });
  }
}

export async function unpackValue(dump: Dump): Promise<unknown> {
  return decodeState(dump.format, await unpackState(dump));
}

/** The stored form of a message: all of it but its id and its time, which the record has. */
export async function packMessage(message: NewMessage, sender: Identity, field: string): Promise<Dump> {
  const { content, source = null, metadata = {} } = message;
  if (content === undefined) throw new InvalidInputError(`${field}.content`, 'is missing');
  if (!isRecord(metadata)) throw new InvalidInputError(`${field}.metadata`, 'must be an object');
  return packValue(
    { v: 1, content, sender: checkIdentity(sender, `${field}.sender`), source, metadata },
    field,
  );
}

export async function unpackMessage({ id, at, dump }: StoredRecord): Promise<Message> {
  const { content, sender, source, metadata } = await unpackVersion1(dump);
  return { id, content, sender, timestamp: new Date(at).toISOString(), source, metadata } as Message;
}

export async function packCapsule(capsule: Omit<Capsule, 'id' | 'createdAt'>): Promise<Dump> {
  return packValue({ v: 1, ...capsule }, 'capsule');
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
export async function isSameMessage(known: Dump, sent: Dump): Promise<boolean> {
  if (isSameDump(known, sent)) return true;
  const [first, second] = await Promise.all([unpackValue(known), unpackValue(sent)]);
  const of = (value: unknown) =>
    isRecord(value) && { content: value.content, sender: (value.sender as Identity).id };
  return isDeepStrictEqual(of(first), of(second));
}

/** Two values that are equal, whatever order their properties were in. */
export async function isSameValue(first: Dump, second: Dump): Promise<boolean> {
  if (isSameDump(first, second)) return true;
  return isDeepStrictEqual(await unpackValue(first), await unpackValue(second));
}

function isSameDump(first: Dump, second: Dump): boolean {
  return Buffer.from(first.checksum).equals(second.checksum);
}

export function checkIdentity(identity: unknown, field: string): Identity {
  if (!isRecord(identity)) throw new InvalidInputError(field, 'must be an object with an id');
  const id = checkName(`${field}.id`, identity.id);
  const { name } = identity;
  if (name !== undefined && typeof name !== 'string')
    throw new InvalidInputError(`${field}.name`, 'must be a string');
  return name === undefined ? { id } : { id, name };
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
