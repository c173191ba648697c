import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { InvalidStateError } from '../../../lib/errors.ts';
import { decodeState, encodeState } from '../../../lib/persistence/codec.ts';
import { isJsonValue } from '../../../lib/persistence/json-value.ts';
import { packState, unpackState } from '../../../lib/persistence/pack.ts';

const roundTrip = (state: unknown) => {
  const { format, data } = encodeState(state);
  return decodeState(format, data);
};

/** Everything that the documentation says comes back, nested in everything that can hold it. */
const anyState = fc.letrec((tie) => ({
  leaf: fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.double(),
    fc.integer(),
    fc.boolean(),
    fc.constantFrom(null, undefined, Number.NaN, -0, Number.POSITIVE_INFINITY),
    fc.bigInt(),
    fc.date({ noInvalidDate: false }),
    fc.uint8Array(),
    fc.float64Array(),
    fc.int16Array(),
    fc.constantFrom(/a+/gi, new URL('https://example.com/a?b#c')),
  ),
  value: fc.oneof(
    { depthSize: 'small' },
    tie('leaf'),
    fc.array(tie('value')),
    fc.dictionary(
      fc.string().filter((name) => name !== '__proto__'),
      tie('value'),
    ),
    fc.array(fc.tuple(tie('value'), tie('value'))).map((entries) => new Map(entries)),
    fc.array(tie('value')).map((values) => new Set(values)),
  ),
})).value;

describe('the codec', () => {
  test('brings any state back equal and of the same types', () => {
    fc.assert(
      fc.property(anyState, (state) => {
        // Of what is otherwise JSON, a property that is undefined is left out.
        const isJson = encodeState(state).format === 'json';
        expect(roundTrip(state)).toStrictEqual(isJson ? JSON.parse(JSON.stringify(state)) : state);
        expect(roundTrip(state)).toEqual(state);
      }),
      { numRuns: 150 },
    );
  });

  test('stores plain JSON as JSON, of any kind', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (state) => {
        const isPlain = !JSON.stringify(state, (_key, value) =>
          Object.is(value, -0) ? '-0!' : value,
        ).includes('-0!');
        // JSON.stringify drops the sign of -0: such a state is another test's.
        if (!isPlain) return;
        const { format, contentType, data } = encodeState(state);
        expect([format, contentType]).toEqual(['json', 'application/json']);
        expect(Buffer.from(data).toString()).toBe(JSON.stringify(state));
      }),
    );
  });

  test.each([
    ['NaN', { x: Number.NaN }],
    ['-Infinity', { x: Number.NEGATIVE_INFINITY }],
    ['a bigint', { x: 9_007_199_254_740_993n }],
    ['undefined in an object beside what JSON loses', { x: undefined, at: new Date(0) }],
    ['undefined in an array', [undefined]],
    ['undefined', undefined],
    ['a hole', Object.assign([1], { 2: 3 })],
    ['a Map', { x: new Map([['a', 1]]) }],
    ['a Set', { x: new Set([1]) }],
    ['a Date', { x: new Date(0) }],
    ['an invalid Date', { x: new Date(Number.NaN) }],
    ['bytes inside an object', { x: new Uint8Array([0, 255, 128]) }],
    ['an object without a prototype', Object.assign(Object.create(null), { a: 1 })],
    ['negative zero', { x: -0 }],
  ])('%s is restored', (_name, state) => {
    expect(roundTrip(state)).toStrictEqual(state);
  });

  test('cycles and shared references are restored as such', () => {
    const shared = { name: 'shared' };
    const state: Record<string, unknown> = { a: shared, b: [shared] };
    state.self = state;

    const restored = roundTrip(state) as { self: unknown; a: object; b: [object] };

    expect(restored.self).toBe(restored);
    expect(restored.b[0]).toBe(restored.a);
  });

  test('a Uint8Array is kept as bytes, also a view into a larger buffer', () => {
    const view = new Uint8Array([9, 0, 255, 128, 9]).subarray(1, 4);

    expect(encodeState(view)).toMatchObject({ format: 'bytes', contentType: 'application/octet-stream' });
    expect(roundTrip(view)).toStrictEqual(new Uint8Array([0, 255, 128]));
  });

  test('a part of a buffer is stored as that part, and the rest of the buffer stays here', () => {
    const secret = Buffer.from('the rest of the buffer');
    const state = {
      part: new Uint8Array(secret.buffer, secret.byteOffset, 3),
      floats: new Float32Array(8).subarray(2, 4),
    };

    const { data } = encodeState(state);

    expect(data.length).toBeLessThan(200);
    expect(roundTrip(state)).toStrictEqual({
      part: Uint8Array.from(secret.subarray(0, 3)),
      floats: new Float32Array(2),
    });
  });

  test('an own key named __proto__, beside what JSON loses, is refused with its path', () => {
    const state: unknown = JSON.parse('{"in":{"__proto__":[],"a":-0}}');

    expect(() => encodeState(state)).toThrow(InvalidStateError);
    expect(() => encodeState(state)).toThrow('$.in');
  });

  test('an own key named __proto__ stays a key', () => {
    const state: unknown = JSON.parse('{"__proto__":{"polluted":true},"a":1}');

    const restored = roundTrip(state) as object;

    expect(Object.keys(restored)).toEqual(['__proto__', 'a']);
    expect('polluted' in restored).toBe(false);
  });

  class Robot {
    name = 'r2';
  }
  test.each([
    ['a function', { x: () => 1 }, '$.x'],
    ['a function in an array', [0, () => 1], '$[1]'],
    ['a symbol', { a: { b: Symbol('s') } }, '$.a.b'],
    ['a class instance', { x: new Robot() }, '$.x'],
    ['a class instance in a Map', { m: new Map([['k', new Robot()]]) }, '$.m.get("k")'],
    ['an error', { e: new Error('x') }, '$.e'],
    ['a promise', { p: Promise.resolve() }, '$.p'],
    ['a function at the root', () => 1, '$'],
    ['an array of a subclass', { x: new (class Stack extends Array {})() }, '$.x'],
    ['a Map of a subclass', { x: new (class Cache extends Map {})() }, '$.x'],
    ['a Date of a subclass', [new (class Day extends Date {})(0)], '$[0]'],
    ['an array with a name of its own', { x: Object.assign([undefined], { foo: 2 }) }, '$.x'],
    ['the match of a pattern', { x: /b/.exec('abc') }, '$.x'],
    ['a Map with a property of its own', { x: Object.assign(new Map(), { extra: 1 }) }, '$.x'],
    ['a hidden property', { x: Object.defineProperty({}, 'hidden', { value: 1 }) }, '$.x'],
    ['a property named by a symbol', { x: { [Symbol('s')]: 1 } }, '$.x'],
  ])('%s is refused with its path', (_name, state, path) => {
    const refused = () => encodeState(state);

    expect(refused).toThrow(InvalidStateError);
    expect(refused).toThrow(expect.objectContaining({ code: 'invalid_state', path }));
  });

  test.each<[string, unknown, string]>([
    ['a list of instances', [new Robot(), new Robot()], 'an instance of Robot at $[0]'],
    ['an instance before a function', { b: new Robot(), a: () => 1 }, 'an instance of Robot at $.b'],
    ['a function before an instance', { a: () => 1, b: new Robot() }, 'a function at $.a'],
    [
      'what lies deeper but comes first',
      [[{ x: new Robot() }], Symbol('s')],
      'an instance of Robot at $[0][0].x',
    ],
    ['a name that is no word', { 'a b': { 'c"d': new Robot() } }, 'at $["a b"]["c\\"d"]'],
    [
      'a key of a Map',
      new Map<unknown, unknown>([
        [1, 1],
        [new Robot(), 1],
      ]),
      'at $.keys()',
    ],
    ['a class without a name', [new (class {})()], 'an instance of a class without a name at $[0]'],
    [
      'what only looks like a Map',
      { m: Object.create(Map.prototype) },
      'an object that only looks like an instance of Map at $.m',
    ],
  ])('the first value that is refused is named, with its class: %s', (_name, state, said) => {
    expect(() => encodeState(state)).toThrow(said);
    expect(() => encodeState(state)).toThrow("in the agent's dump");
  });

  test.each([
    ['a Map', () => Object.assign(new Map([['a', 1]]), { owner: 'ann' })],
    ['a Map of a subclass', () => new (class Cache extends Map {})()],
    ['a Date of a subclass', () => new (class Day extends Date {})(0)],
    ['an array with a property', () => Object.assign([1], { sum: 1 })],
    ['a hidden property', () => Object.defineProperty({}, 'secret', { value: 1 })],
    ['a hidden property of an array', () => Object.defineProperty([1], 'secret', { value: 1 })],
    ['an instance', () => new Robot()],
  ])('a hole or an undefined beside it hides nothing from the check: %s', (_name, make) => {
    // biome-ignore lint/suspicious/noSparseArray: one of the cases
    for (const beside of [[1, , 3], [undefined], [,], new Array(3), new Map([[undefined, undefined]])]) {
      for (const state of [
        { m: make(), beside },
        { beside, m: make() },
      ]) {
        expect(() => encodeState(state)).toThrow(expect.objectContaining({ path: '$.m' }));
      }
      expect(() => encodeState([make(), beside])).toThrow(expect.objectContaining({ path: '$[0]' }));
    }
  });

  test.each([
    ['one item at the end', () => Object.assign([], { 100000000: 1 }), undefined],
    ['nothing but a length', () => new Array(2 ** 32 - 1), undefined],
    ['a thousand of them', () => Array.from({ length: 1_000 }, () => new Array(2_000)), undefined],
    ['few enough holes', () => Object.assign([], { 999999: 1, 5: new Date(0) }), '[-7,1000000,5,1,999999,2]'],
  ])('an array with a length alone is stored or refused at once: %s', (_name, make, stored) => {
    const state = { list: make() };
    const start = performance.now();

    if (stored === undefined) expect(() => encodeState(state)).toThrow('holes');
    else {
      expect(Buffer.from(encodeState(state.list).data).toString()).toContain(stored);
      const restored = roundTrip(state.list) as unknown[];
      expect([restored.length, Object.keys(restored)]).toEqual([1_000_000, ['5', '999999']]);
    }

    expect(performance.now() - start).toBeLessThan(2_000);
  });

  test('of a state that is otherwise JSON a property that is undefined is left out, as JSON.stringify does', () => {
    const message = { role: 'user', content: [{ type: 'text', text: 'hi', providerOptions: undefined }] };

    const { format, data } = encodeState({ messages: [message], cache: undefined });

    expect(format).toBe('json');
    expect(Buffer.from(data).toString()).toBe(
      '{"messages":[{"role":"user","content":[{"type":"text","text":"hi"}]}]}',
    );
    expect(encodeState([undefined]).format).toBe('rich');
  });

  test('an object that is met twice is one object again, or is written twice for agents that speak JSON', () => {
    const shared = { name: 'shared' };
    const state = { a: shared, b: [shared] };
    let bomb: unknown = [];
    for (let level = 0; level < 60; level++) bomb = [bomb, bomb];
    const cycle: unknown[] = [];
    cycle.push(cycle);

    expect(encodeState(state).format).toBe('rich');
    expect(Buffer.from(encodeState(state, 'dropped').data).toString()).toBe(
      '{"a":{"name":"shared"},"b":[{"name":"shared"}]}',
    );
    for (const endless of [bomb, cycle]) expect(encodeState(endless, 'dropped').format).toBe('rich');
  });

  test('nesting of 1,000 levels is restored, and what is too deep is refused', () => {
    let deep: unknown = 'bottom';
    for (let level = 0; level < 1_000; level++) deep = level % 2 ? [deep] : { deep };

    expect(JSON.stringify(roundTrip(deep))).toBe(JSON.stringify(deep));

    let bottomless: unknown = 1n;
    for (let level = 0; level < 100_000; level++) bottomless = [bottomless];
    expect(() => encodeState(bottomless)).toThrow(InvalidStateError);
  });

  test('what JSON loses is not taken for JSON', () => {
    // biome-ignore lint/suspicious/noSparseArray: one of the cases
    const hole = [, 1];
    for (const value of [
      undefined,
      Number.NaN,
      -0,
      1n,
      new Date(0),
      new Map(),
      new Robot(),
      [undefined],
      hole,
    ]) {
      expect(isJsonValue(value)).toBe(false);
      expect(isJsonValue({ value })).toBe(value === undefined);
    }
    expect(isJsonValue({ toJSON: () => 'something else' })).toBe(false);
    expect(isJsonValue(Object.assign([1], { extra: 1 }))).toBe(false);
  });
});

describe('packing', () => {
  test('never stores more than the state, and unpacks to the same bytes', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 4_000, size: 'max' }), async (data) => {
        const dump = await packState({ format: 'bytes', contentType: 'a/b', data });
        expect(dump.data.length).toBeLessThanOrEqual(data.length);
        expect(Buffer.from(await unpackState(dump)).equals(data)).toBe(true);
      }),
    );
  });

  test('compresses what can be compressed, reproducibly', async () => {
    const state = {
      format: 'json',
      contentType: 'application/json',
      data: Buffer.from(JSON.stringify('z'.repeat(9_999))),
    } as const;
    const [first, second] = [await packState(state), await packState(state)];

    expect(first).toMatchObject({ encoding: 'gzip', bytes: 10_001 });
    expect(first.data.length).toBeLessThan(100);
    expect(second).toEqual(first);
  });

  test('bytes that inflate past their recorded size are corrupt, and are not inflated further', async () => {
    const dump = await packState({ format: 'bytes', contentType: 'a/b', data: Buffer.alloc(50_000_000) });

    await expect(unpackState({ ...dump, bytes: 9_600 })).rejects.toMatchObject({ code: 'corrupt' });
    await expect(unpackState({ ...dump, bytes: 50_000_001 })).rejects.toMatchObject({ code: 'corrupt' });
    await expect(unpackState({ ...dump, checksum: new Uint8Array() })).rejects.toMatchObject({
      code: 'corrupt',
    });
  });
});
