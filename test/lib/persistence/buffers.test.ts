import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { decodeState, encodeState } from '../../../lib/persistence/codec.ts';

const roundTrip = (state: unknown) => {
  const { format, data } = encodeState(state);
  return { text: Buffer.from(data).toString('latin1'), restored: decodeState(format, data) };
};

const types = [
  ...[Int8Array, Uint8Array, Uint8ClampedArray, Int16Array, Uint16Array, Int32Array, Uint32Array],
  ...[Float32Array, Float64Array, BigInt64Array, BigUint64Array, DataView],
  // Not in every version of Node.js.
  ...[(globalThis as { Float16Array?: typeof Float32Array }).Float16Array ?? Float32Array],
] as const;

/** A view of any type on any part of any memory that a view may be on, among random bytes. */
const anyView = fc
  .record({
    Type: fc.constantFrom(...types),
    memory: fc.constantFrom('own', 'shared', 'resizable', 'growable'),
    before: fc.nat(3),
    length: fc.nat(12),
    after: fc.nat(9),
    random: fc.uint8Array({ minLength: 300, maxLength: 300 }),
  })
  .map(({ Type, memory, before, length, after, random }) => {
    const size = 'BYTES_PER_ELEMENT' in Type ? Type.BYTES_PER_ELEMENT : 1;
    const bytes = (before + length) * size + after;
    const room = { maxByteLength: bytes + 8 };
    type Memory = new (bytes: number, room?: object) => ArrayBuffer;
    const [Own, Shared] = [ArrayBuffer as Memory, SharedArrayBuffer as unknown as Memory];
    const buffer = {
      own: () => new Own(bytes),
      shared: () => new Shared(bytes),
      resizable: () => new Own(bytes, room),
      growable: () => new Shared(bytes, room),
    }[memory]();
    new Uint8Array(buffer).set(random.subarray(0, bytes));
    return new (Type as typeof Uint8Array)(buffer, before * size, length);
  });

const bytesOf = ({ buffer, byteOffset, byteLength }: ArrayBufferView) =>
  Buffer.from(buffer as ArrayBuffer, byteOffset, byteLength).toString('hex');

describe('buffers and views', () => {
  test('a view of any type, on a part of any memory, comes back with its own bytes and its type, and nothing else', () => {
    fc.assert(
      fc.property(anyView, (view) => {
        const restored = roundTrip({ view }).restored as { view: ArrayBufferView };

        expect(Object.prototype.toString.call(restored.view)).toBe(Object.prototype.toString.call(view));
        expect(bytesOf(restored.view)).toBe(bytesOf(view));
        expect(restored.view.buffer.byteLength).toBe(view.byteLength);
      }),
      { numRuns: 500 },
    );
  });

  const pooled = () => Buffer.from('hi');
  test.each([
    ['of a pool', pooled(), 'hi'],
    ['of base64', Buffer.from('aGk=', 'base64'), 'hi'],
    ['put together', Buffer.concat([pooled(), Buffer.from(' you')]), 'hi you'],
    ['a part of another', Buffer.from('hello').subarray(1, 3), 'el'],
    ['of its own memory', Buffer.alloc(5_000, 'x'), 'x'.repeat(5_000)],
    ['of a whole ArrayBuffer', Buffer.from(new ArrayBuffer(9)).fill('y'), 'y'.repeat(9)],
    ['empty', Buffer.alloc(0), ''],
    ['on shared memory', Buffer.from(new SharedArrayBuffer(3)).fill('z'), 'zzz'],
  ])('a Buffer comes back as a Uint8Array, alone and in a state: %s', (_, buffer, content) => {
    const alone = roundTrip(buffer).restored;
    const { in: within, list } = roundTrip({ in: buffer, list: [buffer] }).restored as {
      in: unknown;
      list: unknown[];
    };

    for (const restored of [alone, within, list[0]]) {
      expect(restored).toBeInstanceOf(Uint8Array);
      expect(Buffer.isBuffer(restored)).toBe(false);
      expect(Buffer.from(restored as Uint8Array).toString()).toBe(content);
    }
    expect(list[0]).toBe(within);
  });

  test('the rest of a buffer is never stored', () => {
    const secret = Buffer.from('the rest of the buffer').buffer;
    for (const part of [new Uint8Array(secret, 0, 3), new DataView(secret, 0, 3), Buffer.from(secret, 0, 3)])
      expect(roundTrip({ part }).text.length).toBeLessThan(60);
  });

  test('views on the whole of one buffer share it again', () => {
    const buffer = new ArrayBuffer(8);
    const state = { bytes: new Uint8Array(buffer), numbers: new Float64Array(buffer), buffer };

    const restored = roundTrip(state).restored as typeof state;

    expect(restored.bytes.buffer).toBe(restored.buffer);
    expect(restored.numbers.buffer).toBe(restored.buffer);
  });

  const detached = (make: (buffer: ArrayBuffer) => object) => {
    const buffer = new ArrayBuffer(8);
    const value = make(buffer);
    structuredClone(buffer, { transfer: [buffer] });
    return value;
  };
  const shortened = (make: (buffer: ArrayBuffer) => object) => {
    const Resizable = ArrayBuffer as unknown as new (
      bytes: number,
      room: object,
    ) => ArrayBuffer & { resize(bytes: number): void };
    const buffer = new Resizable(8, { maxByteLength: 8 });
    const value = make(buffer);
    buffer.resize(2);
    return value;
  };
  test.each<[string, object, string]>([
    ['a detached buffer', detached((buffer) => buffer), 'detached'],
    ['a view of a detached buffer', detached((buffer) => new Uint16Array(buffer)), 'detached'],
    ['a Buffer of a detached buffer', detached((buffer) => Buffer.from(buffer)), 'detached'],
    ['a DataView of a detached buffer', detached((buffer) => new DataView(buffer)), 'detached'],
    [
      'a view that its buffer has become too short for',
      shortened((buffer) => new Uint8Array(buffer, 4, 4)),
      'too short',
    ],
    [
      'a DataView that its buffer has become too short for',
      shortened((buffer) => new DataView(buffer, 4, 4)),
      'too short',
    ],
    ['a view with a property', Object.assign(new Uint8Array(3), { owner: 'ann' }), 'a property of its own'],
    ['a Buffer with a property', Object.assign(Buffer.from('hi'), { owner: 'ann' }), 'a property of its own'],
    [
      'a DataView with a property',
      Object.assign(new DataView(new ArrayBuffer(1)), { owner: 'ann' }),
      "'owner'",
    ],
    ['a view of a subclass', new (class Vector extends Float32Array {})(3), 'an instance of Vector'],
    ['shared memory itself', new SharedArrayBuffer(3), 'an instance of SharedArrayBuffer'],
  ])('%s is refused, saying why', (_, value, why) => {
    expect(() => encodeState({ in: [value] })).toThrow(
      expect.objectContaining({ code: 'invalid_state', path: '$.in[0]' }),
    );
    expect(() => encodeState({ in: [value] })).toThrow(why);
    expect(() => encodeState(value)).toThrow(why);
  });
});
