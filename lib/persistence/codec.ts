import { types } from 'node:util';
import { CorruptError, InvalidStateError, PersistenceError } from '../errors.ts';
import { messageOf } from '../message-of.ts';
import { assertPlain } from './assert-plain.ts';
import { jsonText } from './json-text.ts';
import { isJsonValue, isJsonWhenWrittenOut } from './json-value.ts';
import { ownBytes, richState, richText, sentRichState } from './rich-text.ts';
import type { DumpFormat } from './snapshot-store.ts';

/** A state as bytes, and how to read them. */
export interface EncodedState {
  readonly format: DumpFormat;
  readonly contentType: string;
  readonly data: Uint8Array;
}

const jsonContentType = 'application/json';
const bytesContentType = 'application/octet-stream';
/** devalue's text: JSON that carries Dates, Maps, Sets, bigints, typed arrays, NaN, undefined and cycles. */
export const richContentType = 'application/vnd.dormouse.rich+json';

/**
 * What becomes of an object that a state refers to twice, without a cycle. `kept`: it comes back as one, from devalue
 * text. `dropped`: it comes back as two that are equal, for agents that speak JSON.
 */
export type Identity = 'kept' | 'dropped';

/**
 * Bytes for any state that can be brought back equal: a `Uint8Array` as it is, a plain JSON tree as JSON, everything
 * else as devalue text. A property whose value is undefined does not keep a state from being JSON: it is left out.
 *
 * @throws InvalidStateError with the path of a value that would not come back (a function, a class instance, …)
 */
export function encodeState(state: unknown, identity: Identity = 'kept'): EncodedState {
  try {
    if (isBytes(state)) {
      assertPlain(state);
      return { format: 'bytes', contentType: bytesContentType, data: ownBytes(state) };
    }
    return isJsonValue(state) || (identity === 'dropped' && isJsonWhenWrittenOut(state))
      ? { format: 'json', contentType: jsonContentType, data: Buffer.from(jsonText(state)) }
      : { format: 'rich', contentType: richContentType, data: Buffer.from(richText(state)) };
  } catch (error) {
    throw notStorable(error);
  }
}

function isBytes(state: unknown): state is Uint8Array {
  if (!types.isUint8Array(state)) return false;
  return Object.getPrototypeOf(state) === Uint8Array.prototype || Buffer.isBuffer(state);
}

function notStorable(error: unknown): InvalidStateError {
  if (error instanceof InvalidStateError) return error;
  if (error instanceof RangeError) {
    return new InvalidStateError('the state is nested too deep, or too large, to be stored', {
      cause: error,
    });
  }
  return new InvalidStateError(`the state cannot be stored: ${messageOf(error)}`, { cause: error });
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** The value that `encodeState` was given, or that another writer of the same format sent. */
export function decodeState(format: DumpFormat, data: Uint8Array): unknown {
  if (format === 'bytes') return Uint8Array.from(data);
  try {
    const text = utf8.decode(data);
    return format === 'json' ? JSON.parse(text) : richState(text);
  } catch (error) {
    if (error instanceof PersistenceError) throw error;
    throw new CorruptError(`the stored ${format} cannot be read`, { cause: error });
  }
}

/** The state of a devalue text that somebody sent. Throws `InvalidStateError` where it is not, or stands for too much. */
export function decodeSentRich(data: Uint8Array): unknown {
  try {
    return sentRichState(utf8.decode(data));
  } catch (error) {
    if (error instanceof InvalidStateError) throw error;
    throw new InvalidStateError('it is malformed', { cause: error });
  }
}
