import { expect, test } from 'vitest';
import { holesMax, richBytesMax, richMaxDepth } from '../../../lib/defaults.ts';
import { assertPlain } from '../../../lib/persistence/assert-plain.ts';

const refusal = (state: unknown): { path?: string; message: string } => {
  try {
    assertPlain(state);
  } catch (error) {
    return error as Error;
  }
  throw new Error('it was not refused');
};
const nested = (levels: number) => {
  let state: unknown[] = [];
  for (let level = 1; level < levels; level++) state = [state];
  return state;
};
const holes = (count: number) => Object.assign([], { length: count });

test.each<[string, (more: number) => unknown, string]>([
  ['levels', (more) => nested(richMaxDepth + more), 'levels'],
  ['holes', (more) => [holes(holesMax / 2), { list: holes(holesMax / 2 + more) }], 'holes'],
  [
    'bytes in buffers',
    (more) => {
      const buffer = new ArrayBuffer(2 ** 20);
      return [
        ...Array.from({ length: richBytesMax / 2 ** 20 }, () => new Uint8Array(buffer)),
        new Int8Array(more),
      ];
    },
    'buffer',
  ],
])('a state may have as many %s as it may, and not one more', (_what, make, said) => {
  expect(assertPlain(make(0))).toBeUndefined();
  expect(refusal(make(1)).message).toContain(said);
});

test('an object that is met again is looked at once', () => {
  const bytes = new Uint8Array(richBytesMax / 2);
  const list = holes(holesMax);

  expect(assertPlain([bytes, list, bytes, list, { bytes, list }])).toBeUndefined();
});

test.each<[object, string]>([
  [new Map(), '0'],
  [new Set(), 'length'],
  [new Date(0), 'lastIndex'],
  [/a/, '0'],
  [/a/, 'lastIndexes'],
  [Object('text'), '4'],
  [Object('text'), 'lengths'],
  [Object(7), 'length'],
  [new DataView(new ArrayBuffer(1)), '0'],
  [new ArrayBuffer(1), '0'],
])('%o with a property %j of its own would come back without it', (value, name) => {
  expect(assertPlain([value])).toBeUndefined();

  Object.defineProperty(value, name, { value: 1, configurable: true });

  expect(refusal([value])).toMatchObject({ path: '$[0]', message: expect.stringContaining(`'${name}'`) });
});

const symbol = Symbol('s');
test.each<[string, unknown, string]>([
  ['a property named by a symbol', [new Map(), { [symbol]: 1 }], '$[1]'],
  ['a property of a Map that a symbol names', { m: Object.assign(new Map(), { [symbol]: 1 }) }, '$.m'],
  ['a member of a Set', { s: new Set([1, () => 1]) }, '$.s.values()'],
  ['a value of a Map under a number', new Map([[1, () => 1]]), '$.get(number)'],
  ['an item behind holes', Object.assign([], { 3: 1, 7: () => 1 }), '$[7]'],
  ['an own __proto__', { a: JSON.parse('{"__proto__":1}') }, '$.a.__proto__'],
  ['a name of letters of any script', { größe: { $_1: () => 1 } }, '$.größe.$_1'],
  ['a name that begins with a digit', { '1a': () => 1 }, '$["1a"]'],
])('%s is refused where it is', (_what, state, path) => {
  expect(refusal(state).path).toBe(path);
});

test('a long path is told by its beginning and its end', () => {
  const inner = { end: () => 1 };
  const state = { begin: Array.from({ length: 200 }).reduce<object>((child) => ({ level: child }), inner) };

  const { path = '' } = refusal(state);

  expect(path).toHaveLength(501);
  expect(path).toMatch(/^\$\.begin(?:\.level){40}\.le…(?:\.level){41}\.end$/);
});

test('a long name of a class is cut', () => {
  const { [`C${'x'.repeat(500)}`]: Long } = { [`C${'x'.repeat(500)}`]: class {} };

  expect(refusal([Long && new Long()]).message.length).toBeLessThan(400);
});
