import { DevalueError, parse, stringify } from 'devalue';
import { messageOf } from '../errors.ts';
import { isJsonValue } from './json-value.ts';
import { CorruptError, InvalidStateError } from './persistence-error.ts';
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
const richContentType = 'application/vnd.dormouse.rich+json';

/**
 * Bytes for any state that can be brought back equal: a `Uint8Array` as it is, a plain JSON tree as JSON, everything
 * else as devalue text.
 *
 * @throws InvalidStateError with the path of a value that would not come back (a function, a class instance, …)
 */
export function encodeState(state: unknown): EncodedState {
  if (state instanceof Uint8Array)
    return { format: 'bytes', contentType: bytesContentType, data: Uint8Array.from(state) };
  try {
    return isJsonValue(state)
      ? { format: 'json', contentType: jsonContentType, data: Buffer.from(JSON.stringify(state)) }
      : { format: 'rich', contentType: richContentType, data: Buffer.from(stringify(state)) };
  } catch (error) {
    throw notStorable(error);
  }
}

function notStorable(error: unknown): InvalidStateError {
  if (error instanceof DevalueError) {
    const path = `$${error.path}`;
    return new InvalidStateError(`the state cannot be stored: ${error.message} at ${path}`, {
      cause: error,
      path,
    });
  }
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
    return format === 'json' ? JSON.parse(text) : parse(text);
  } catch (error) {
    throw new CorruptError(`the stored ${format} cannot be read`, { cause: error });
  }
}
