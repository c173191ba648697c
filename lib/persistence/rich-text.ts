import { stringify, unflatten } from 'devalue';
import { storedHolesMax } from '../defaults.ts';
import { CorruptError } from '../errors.ts';
import { assertPlain } from './assert-plain.ts';
import { assertBounded, sparseTag } from './rich-bounds.ts';

/** devalue's text of a state. Throws `InvalidStateError` with the path of what would not come back. */
export function richText(state: unknown): string {
  assertPlain(state);
  // One token for each number: a Map's hash of a number is known to all, so that chosen numbers could fill one bucket.
  const tokens = new Map<string, object>();
  const identify = (value: unknown): unknown => {
    if (typeof value !== 'number' && typeof value !== 'bigint') return value;
    const name = `${typeof value}${value}`;
    const token = tokens.get(name) ?? {};
    tokens.set(name, token);
    return token;
  };
  return stringify(state, undefined, { operations: { identify, viewInfo } });
}

/**
 * A view is stored as its own bytes. The rest of its buffer may hold what nobody meant to store, and be large; memory
 * that is shared with other threads can only be copied.
 */
function viewInfo(view: NodeJS.ArrayBufferView & { length?: number }) {
  const { byteLength, length = byteLength } = view;
  const isWhole = view.buffer instanceof ArrayBuffer && byteLength === view.buffer.byteLength;
  const buffer = isWhole ? view.buffer : ownBytes(view).buffer;
  return { buffer, byteOffset: 0, byteLength, length, bufferByteLength: byteLength };
}

/** A copy in a buffer of its own. */
export function ownBytes({ buffer, byteOffset, byteLength }: ArrayBufferView): Uint8Array<ArrayBuffer> {
  return new Uint8Array(new Uint8Array(buffer, byteOffset, byteLength));
}

/** The state of a text that was stored. */
export function richState(text: string): unknown {
  const flat: unknown = JSON.parse(text);
  // Stored before lengths were bounded: cheap to read, but not for who walks over it.
  const declared = Array.isArray(flat)
    ? flat.reduce(
        (sum: number, value) => (Array.isArray(value) && value[0] === sparseTag ? sum + value[1] : sum),
        0,
      )
    : 0;
  if (declared > storedHolesMax) throw new CorruptError(`the stored arrays declare ${declared} items`);
  return restored(flat);
}

/**
 * The state of a text that somebody sent. Throws `InvalidStateError` where it would cost more than its bytes: written
 * out as JSON, each shared value as often as it is referred to, it holds too much.
 */
export function sentRichState(text: string): unknown {
  const flat: unknown = JSON.parse(text);
  assertBounded(flat);
  return restored(flat);
}

/** `View` stands around a part of a buffer in texts of 0.1. */
function restored(flat: unknown): unknown {
  return unflatten(flat as unknown[], { View: (view) => view });
}
