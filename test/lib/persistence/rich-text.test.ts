import { isDeepStrictEqual } from 'node:util';
import { describe, expect, test } from 'vitest';
import { decodeSentRich, decodeState, encodeState } from '../../../lib/persistence/codec.ts';

const sent = (text: string) => decodeSentRich(Buffer.from(text));
const list = (length: number, item: (index: number) => string) =>
  Array.from({ length }, (_, index) => item(index)).join(',');

describe('a rich text that somebody sends', () => {
  test('is the state that the library wrote', () => {
    const cycle: Record<string, unknown> = {
      at: new Date(0),
      url: new URL('https://example.com/a?b'),
      pattern: /a+/gi,
    };
    cycle.self = cycle;
    const states = [
      undefined,
      Number.NaN,
      [undefined, -0, Number.POSITIVE_INFINITY, 10n, new Number(1), Object(2n)],
      // biome-ignore lint/suspicious/noSparseArray: one of the cases
      [1, , new Date(Number.NaN)],
      Object.assign([], { 900: 1 }),
      new Map<unknown, unknown>([
        [1, new Set(['a', 2, Number.NaN])],
        [{ a: 1 }, new URLSearchParams('a=1')],
      ]),
      Object.assign(Object.create(null), { a: 1 }),
      { views: [new Uint8Array(3), new DataView(new ArrayBuffer(2)), new BigInt64Array(1)] },
      { shared: Array(1_000).fill(cycle), text: Array(1_000).fill('x'.repeat(1_000)) },
      cycle,
    ];
    for (const state of states) {
      const { format, data } = encodeState(state);
      expect(format).toBe('rich');
      expect(decodeSentRich(data)).toStrictEqual(state);
      expect(decodeState('rich', data)).toStrictEqual(state);
    }
  });

  const colliding = list(30_000, (index) => String(index * 2 ** 14));
  test.each([
    ['an array with a length alone', '[{"list":1},[-7,4294967295,5,2],"x"]', 'holes'],
    [
      'many that are long enough together',
      `[[${list(20, (at) => String(at + 1))}],${list(20, () => '[-7,100000,5,-1]')}]`,
      'values',
    ],
    ['references that double', `[${list(60, (at) => `[${at + 1},${at + 1}]`)},"x"]`, 'values'],
    [
      'references that double in Maps',
      `[${list(60, (at) => `["Map",-1,${at + 1},-3,${at + 1}]`)},"x"]`,
      'values',
    ],
    ['a long string from everywhere', `[[${list(1_000, () => '1')}],"${'x'.repeat(100_000)}"]`, 'characters'],
    [
      'a long name from everywhere',
      `[[${list(1_000, () => '1')}],{"${'x'.repeat(100_000)}":-1}]`,
      'characters',
    ],
    [
      'one buffer under many views',
      `[[${list(1_000, (at) => String(at + 1))}],${list(1_000, () => '["Uint8Array",1001,0,9]')},["ArrayBuffer","${'A'.repeat(100_000)}"]]`,
      'characters',
    ],
    ['deep nesting', `[${list(2_000, (at) => `[${at + 1}]`)},1]`, 'deeper'],
    [
      'deep nesting, met from its middle first',
      `[[1001,1],${list(2_000, (at) => `[${at + 2}]`)},1]`,
      'deeper',
    ],
    ['a bigint of a million digits', `[["BigInt","${'9'.repeat(1_000_000)}"]]`, 'bigint'],
    [
      'patterns that are slow to read',
      `[[${list(500, (at) => String(at + 1))}],${list(500, () => '["RegExp","[\\\\p{L}&&\\\\p{RGI_Emoji}]","iv"]')}]`,
      'patterns',
    ],
    [
      'numbers that fall into one bucket',
      `[["Map",${list(30_000, (at) => `${at + 1},-1`)}],${colliding}]`,
      'numbers as keys',
    ],
    ['the same in Sets', `[["Set",${list(30_000, (at) => String(at + 1))}],${colliding}]`, 'numbers as keys'],
    ['an own __proto__', '[{"__proto__":1},{"a":2},3]', 'malformed'],
    ['an own __proto__ without a prototype', '[["null","__proto__",1],{"a":2},3]', 'malformed'],
    ['an index that is out of range', '[[5]]', 'malformed'],
    ['an index that is no whole number', '[{"a":0.5}]', 'malformed'],
    ['a hole outside an array', '[{"a":-2}]', 'malformed'],
    ['a constant that there is not', '[[-8]]', 'malformed'],
    ['a type that there is not', '[["Temporal.Instant","2020"]]', 'malformed'],
    ['the name of a method', '[["constructor",1],1]', 'malformed'],
    ['a box of an object', '[["Object",1],{"a":2},3]', 'malformed'],
    ['a view of what is no buffer', '[["Uint8Array",1],4294967295]', 'malformed'],
    [
      'a view that is larger than its buffer',
      '[["Uint8Array",1,0,4294967295],["ArrayBuffer","AAA="]]',
      'malformed',
    ],
    ['a Map that ends with a key', '[["Map",1],1]', 'malformed'],
    ['a pattern that is none', '[["RegExp","("]]', 'malformed'],
    ['an address that is none', '[["URL","x"]]', 'malformed'],
    ['a bigint that is none', '[["BigInt","0x1"]]', 'malformed'],
    ['no list', '{"a":1}', 'malformed'],
    ['nothing', '[]', 'malformed'],
    ['no JSON', '[', 'malformed'],
  ])('is refused at once where it is malformed, or stands for more than its bytes: %s', (_, text, why) => {
    const start = performance.now();

    expect(() => sent(text)).toThrow(
      expect.objectContaining({ code: 'invalid_state', message: expect.stringContaining(why) }),
    );

    expect(performance.now() - start).toBeLessThan(3_000);
  });

  test('what was stored before lengths were bounded is read, unless nobody could walk over it', () => {
    const read = (text: string) => decodeState('rich', Buffer.from(text));

    expect((read('[[-7,50000000,5,1],"x"]') as unknown[]).length).toBe(50_000_000);
    expect(read('[{"a":1},["View",2],["Uint8Array",3],["ArrayBuffer","AAE="]]')).toEqual({
      a: new Uint8Array([0, 1]),
    });
    expect(() => read('[{"list":1},[-7,4294967295,5,2],"x"]')).toThrow(
      expect.objectContaining({ code: 'corrupt' }),
    );
  });
});

describe('the text of a state', () => {
  test('takes no longer for numbers that a Map would put into one bucket', () => {
    const state = [-0, ...Array.from({ length: 60_000 }, (_, index) => index * 2 ** 14)];
    const start = performance.now();

    const { data } = encodeState(state);

    expect(isDeepStrictEqual(decodeState('rich', data), state)).toBe(true);
    expect(performance.now() - start).toBeLessThan(2_000);
  });
});
