import { inspect } from 'node:util';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { serializeValue } from '../../../lib/persistence/serialize-value.ts';

function nested(levels: number, wrap: (inner: unknown) => unknown): unknown {
  let value: unknown = 'bottom';
  for (let level = 0; level < levels; level++) value = wrap(value);
  return value;
}

function doubled(times: number): unknown {
  let value: unknown = ['x'.repeat(100)];
  for (let time = 0; time < times; time++) value = [value, value];
  return value;
}

const throwing = () => {
  throw new Error('no');
};

describe('a value as JSON can show it', () => {
  test('is itself where JSON carries it, also 3,000 levels deep', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(JSON.stringify(serializeValue(value))).toBe(JSON.stringify(value));
      }),
    );
    const deep = nested(3_000, (inner) => ({ inner }));
    expect(JSON.stringify({ items: [serializeValue(deep)] })).toContain('bottom');
  });

  test.each([
    ['a bigint', { n: 10n }, { n: '10n' }],
    ['NaN', [Number.NaN], ['NaN']],
    ['a Map', { m: new Map([['a', 1]]) }, { m: "Map(1) { 'a' => 1 }" }],
    ['a Date', [new Date(0)], ['1970-01-01T00:00:00.000Z']],
    ['an invalid Date', [new Date(Number.NaN)], ['Invalid Date']],
    ['an error', { e: new TypeError('quota') }, { e: 'TypeError: quota' }],
    ['bytes', { b: Buffer.from('abc') }, { b: '[Uint8Array of 3 bytes]' }],
    ['undefined', { a: undefined, b: [undefined] }, { b: [null] }],
    ['a function', [function grow() {}], ['[Function: grow]']],
    ['a toJSON', { at: { toJSON: () => 'noon' } }, { at: 'noon' }],
    [
      'a toJSON that throws',
      { at: { toJSON: throwing }, ok: 1 },
      { at: 'a value that cannot be shown', ok: 1 },
    ],
    [
      'a getter that throws',
      {
        get at() {
          return throwing();
        },
        ok: 1,
      },
      { at: 'a value that cannot be shown', ok: 1 },
    ],
    ['an own __proto__', JSON.parse('{"__proto__":{"a":1}}'), JSON.parse('{"__proto__":{"a":1}}')],
    ['an object met twice', doubled(1), [['x'.repeat(100)], ['x'.repeat(100)]]],
  ])('%s is shown', (_, value, shown) => {
    expect(serializeValue(value)).toStrictEqual(shown);
  });

  const cycle: Record<string, unknown> = {};
  cycle.self = cycle;
  let calls = 0;
  const revoked = Proxy.revocable({}, {});
  revoked.revoke();
  const endless: object = new Proxy(
    {},
    {
      ownKeys: () => ['a'],
      get: () => endless,
      getOwnPropertyDescriptor: () => ({ value: 1, enumerable: true, configurable: true }),
    },
  );
  const sparse: unknown[] = [];
  sparse[2 ** 32 - 2] = 1;
  const loud = { [inspect.custom]: throwing, big: new Map([[1n, 1]]) };
  test.each<[string, unknown]>([
    ['20,000 levels of objects', nested(20_000, (inner) => ({ inner }))],
    ['a million levels of lists', nested(1_000_000, (inner) => [inner])],
    ['20,000 levels of Maps', nested(20_000, (inner) => new Map([['a', inner]]))],
    ['a cycle', cycle],
    ['a list with a length alone', new Array(2 ** 32 - 1)],
    ['a list with one item at its end', sparse],
    ['a small value that is exponential when written out', doubled(60)],
    ['the same in Maps', new Map([['a', doubled(60)]])],
    [
      'a getter that answers deeper each time',
      {
        get a() {
          return nested(5_000 * ++calls, (inner) => [inner]);
        },
      },
    ],
    ['a revoked proxy', { proxy: revoked.proxy, list: [revoked.proxy] }],
    ['a proxy without an end', endless],
    ['a proxy that throws', new Proxy({}, { ownKeys: throwing, getPrototypeOf: throwing })],
    ['an object that only looks like a Map', Object.create(Map.prototype)],
    ['a bigint of a million digits', 1n << 3_000_000n],
    ['a hundred megabytes', Array.from({ length: 100 }, () => 'x'.repeat(1_000_000))],
    ['a pattern of megabytes', new RegExp('x'.repeat(9_000_000))],
    ['an object that prints itself', new Map([['a', loud]])],
    [
      'a toJSON that never ends',
      (function again() {
        return { toJSON: () => ({ deeper: again() }) };
      })(),
    ],
    ['a huge list of bytes with properties', Object.assign(new Uint8Array(100), { more: doubled(60) })],
  ])('%s is a short text, soon', (_, value) => {
    const start = performance.now();
    const text = JSON.stringify([serializeValue(value), serializeValue({ in: value }, 1_000)]);
    expect(text.length).toBeLessThan(6_000);
    expect(performance.now() - start).toBeLessThan(3_000);
  });

  test('is short in proportion to the room that it is given', () => {
    const list = new Array(3_000_000).fill('x');
    const start = performance.now();

    const text = serializeValue({ list }, 1_000);

    expect(text).toContain('3000000 in all');
    expect(performance.now() - start).toBeLessThan(500);
  });

  test('never throws and is always JSON', () => {
    fc.assert(
      fc.property(
        fc.anything({
          withBigInt: true,
          withBoxedValues: true,
          withDate: true,
          withMap: true,
          withSet: true,
          withNullPrototype: true,
          withObjectString: true,
          withSparseArray: true,
          withTypedArray: true,
        }),
        fc.integer({ min: 0, max: 200 }),
        (value, room) => {
          expect(JSON.stringify(serializeValue(value, room))).toBeTypeOf('string');
        },
      ),
    );
  });
});
