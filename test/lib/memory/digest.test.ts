import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { InvalidStateError } from '../../../lib/errors.ts';
import { digestOf } from '../../../lib/memory/digest.ts';
import { decodeState, encodeState } from '../../../lib/persistence/codec.ts';

const digest = (value: unknown) => Buffer.from(digestOf(value)).toString('hex');
// No date that is none: Node.js 20 takes two of them for different.
const anything = fc.anything({
  ...{ withBigInt: true, withDate: false, withMap: true, withSet: true, withTypedArray: true },
  ...{
    withSparseArray: false,
    maxDepth: 4,
    values: [fc.string(), fc.double(), fc.constantFrom(0, -0, 1), fc.date({ noInvalidDate: true })],
  },
});

/** Undefined for what is refused: a rich state with a property named `__proto__`. */
function encoded(value: unknown) {
  try {
    return encodeState(value);
  } catch (error) {
    if (error instanceof InvalidStateError) return undefined;
    throw error;
  }
}

test('two values have one digest exactly when they are equal', () => {
  const related = anything.chain((value) =>
    fc.tuple(fc.constant(value), fc.oneof(anything, fc.constant(structuredClone(value)))),
  );
  const property = fc.property(related, ([first, second]) => {
    // What is undefined is like what is not there, which deep equality tells apart.
    fc.pre(
      !JSON.stringify([first, second], (_, x) =>
        x === undefined ? 'undefined!' : typeof x === 'bigint' ? 0 : x,
      ).includes('undefined!'),
    );
    expect(digest(first) === digest(second)).toBe(isDeepStrictEqual(first, second));
  });

  fc.assert(property, { numRuns: 300 });
});

test('a value that was stored and read has the digest that it had', () => {
  const property = fc.property(anything, (value) => {
    const stored = encoded([value]);
    fc.pre(stored !== undefined);
    const { format, data } = stored;
    expect(digest(decodeState(format, data))).toBe(digest([value]));
  });

  fc.assert(property, { numRuns: 300 });
});

test('neither the order of properties, of entries and members, nor sharing makes a difference', () => {
  const shared = { x: [1] };
  const long = 'long '.repeat(50);

  expect(digest({ a: 1, b: { c: long, d: 3 } })).toBe(digest({ b: { d: 3, c: long }, a: 1 }));
  expect(
    digest(
      new Map([
        [1, long],
        [2, 'b'],
      ] as const),
    ),
  ).toBe(
    digest(
      new Map([
        [2, 'b'],
        [1, long],
      ] as const),
    ),
  );
  expect(digest(new Set([1, shared]))).toBe(digest(new Set([{ x: [1] }, 1])));
  expect(digest([shared, shared])).toBe(digest([{ x: [1] }, { x: [1] }]));
  expect(digest({ a: 1, b: undefined })).toBe(digest({ a: 1 }));
  expect(digest(Buffer.from('ab'))).toBe(digest(Uint8Array.of(97, 98)));
});

test('what is told apart: types, holes, the ends of strings and lists, and where a cycle leads', () => {
  const hole = [1, 2, 3];
  delete hole[1];
  const toItself: unknown[] = [];
  toItself.push(toItself);
  const toTheTop: unknown[] = [[]];
  (toTheTop[0] as unknown[]).push(toTheTop);
  const values = [
    ...[null, undefined, 0, -0, '0', 'n0', Number.NaN, 0n, false, new Number(0), [], {}, '', '[]', '{}'],
    ...[new Map(), new Set(), new Date(0), new Date(Number.NaN), /a/g, /a/i, new URL('http://a/')],
    ...[hole, [1, undefined, 3], [1, null, 3], ['a', 'b'], ['a,b'], ['a","b'], [['a'], 'b'], [['a', 'b']]],
    ...[Uint8Array.of(1), Int8Array.of(1), new Uint16Array([1]), Uint8Array.of(1).buffer, toItself, toTheTop],
    ...[{ a: { b: 1 } }, { a: 1, b: 1 }, { 'a":1,"b': 1 }, '#', `#${'x'.repeat(43)}`, 'x'.repeat(100)],
  ];

  expect(new Set(values.map(digest)).size).toBe(values.length);
});

test('no depth ends it, and what is shared a thousand times over costs nothing', () => {
  const nested = (inmost: unknown) => {
    let value = inmost;
    for (let level = 0; level < 20_000; level++) value = level % 2 === 0 ? [value] : { value };
    return value;
  };
  let doubled: unknown = 'x';
  for (let level = 0; level < 1_000; level++) doubled = [doubled, doubled];

  expect(digest(nested('a'))).toBe(digest(nested('a')));
  expect(digest(nested('a'))).not.toBe(digest(nested('b')));
  expect(digest(doubled)).toHaveLength(64);
  const sparse: unknown[] = [];
  sparse[2 ** 32 - 2] = 1;
  expect(digest(sparse)).toHaveLength(64);
});

test('the digest of a value is the one that earlier releases stored', () => {
  const cycle: Record<string, unknown> = { name: 'below' };
  cycle.self = cycle;
  const holes = [1];
  holes[3] = 4;
  const value = {
    plain: [null, true, 'text', '#', -0, 0, 1.5, 12n, undefined],
    exactly: 'x'.repeat(62),
    longer: 'x'.repeat(63),
    objects: [new Date(0), /a+/gi, new URL('https://example.com/a?b'), new URLSearchParams('a=1')],
    boxed: [Object('s'), Object(1), Object(false), Object(2n)],
    bytes: [Uint8Array.of(1, 2), Buffer.from('ab'), new Float64Array([1]), Uint8Array.of(3).buffer],
    map: new Map<unknown, unknown>([
      ['b', { deep: [cycle] }],
      [1, 'one'],
    ]),
    ...{ set: new Set([3, 'a']), holes, cycle },
  };

  expect(digest(value)).toBe('09975776166d555b82c76b3b5e24f8bbb05df3777b332fda58d0d98364bce02c');
});
