import { expect, test } from 'vitest';
import {
  holesMax,
  richMaxDepth,
  sentMaxBigintChars,
  sentMaxChars,
  sentMaxNumericKeys,
  sentMaxPatternChars,
  sentMaxValues,
} from '../../../lib/defaults.ts';
import { assertBounded } from '../../../lib/persistence/rich-bounds.ts';

const numbers = (count: number, from = 1) => Array.from({ length: count }, (_, index) => index + from);

test.each<[string, unknown]>([
  ...[-1, -3, -4, -5, -6].map((constant): [string, unknown] => [`the constant ${constant}`, constant]),
  ['a text', ['text']],
  ['null, a boolean and a number', [[1, 2, 3], null, true, 7]],
  ['an object', [{ a: 1, b: -1 }, 'x']],
  ['a list with a hole', [[1, -2, 1], 'x']],
  ['a list of a length', [[-7, 3, 0, 1, 2, -1], 'x']],
  ['a list of nothing but a length', [[-7, 3]]],
  ['an object without a prototype', [['null', 'a', 1, 'b', -1], 'x']],
  ['a Map and a Set', [[1, 2], ['Map', 3, -1], ['Set', 3, 4], 'x', 5]],
  [
    'leaves',
    [
      [1, 2, 3, 4, 5, 6],
      ['Date', ''],
      ['URL', 'x'],
      ['URLSearchParams', ''],
      ['BigInt', '-12'],
      ['RegExp', 'a', 'g'],
      7,
    ],
  ],
  [
    'views, as this release and the one before wrote them',
    [
      [1, 2, 4],
      ['Uint8Array', 3, 0, 1],
      ['DataView', 3],
      ['ArrayBuffer', 'AA=='],
      ['View', 1],
    ],
  ],
  [
    'boxes',
    [
      [1, 2, 3, 4, 5],
      ['Object', 6],
      ['Object', 7],
      ['Object', 8],
      ['Object', 9],
      ['Object', -3],
      'x',
      7,
      true,
      ['BigInt', '1'],
    ],
  ],
  ['a cycle', [{ self: 0, list: 1 }, [0, 1]]],
])('%s is within bounds', (_what, flat) => {
  expect(() => assertBounded(flat)).not.toThrow();
});

test.each<[string, unknown]>([
  ['a constant that there is not', -2],
  ['a text that is no list', 'text'],
  ['nothing', []],
  ['an index out of range', [[1]]],
  ['an index below', [[-8], 'x']],
  ['an index that is no number', [['x', 'y']]],
  ['an index within an object', [{ a: 1 }]],
  ['a length that is none', [[-7, -1]]],
  ['a length without end', [[-7, 2 ** 32]]],
  ['a place behind the length', [[-7, 3, 3, 1], 'x']],
  ['a place that is none', [[-7, 3, -1, 1], 'x']],
  ['a place without a value', [[-7, 3, 0, 1, 2], 'x']],
  ['a value of a place out of range', [[-7, 3, 0, 2], 'x']],
  ['a leaf without a text', [['Date', 1]]],
  ['a bigint that is none', [['BigInt', '1x']]],
  ['a bigint of nothing', [['BigInt', 'x1']]],
  ['a pattern without a text', [['RegExp', 1]]],
  [
    'a view of a view',
    [
      ['Uint8Array', 1],
      ['Uint8Array', 2],
      ['ArrayBuffer', ''],
    ],
  ],
  ['a view of a text', [['Uint8Array', 1], 'x']],
  ['a Map without a value', [['Map', 1], 'x']],
  ['a Map of what is out of range', [['Map', 1, 2], 'x']],
  ['a Set of what is out of range', [['Set', 2], 'x']],
  ['names without a value', [['null', 'a'], 'x']],
  ['a name that is no text', [['null', 'a', 1, 2, 1], 'x']],
  ['a value of a name out of range', [['null', 'a', 2], 'x']],
  ['a box of a list', [['Object', 1], [0]]],
  ['a box of what is out of range', [['Object', 2], 'x']],
  ['a part of what is out of range', [['View', 2], 'x']],
  ['a type that there is not', [['Temporal.Instant', '2020']]],
])('%s is malformed', (_what, flat) => {
  expect(() => assertBounded(flat)).toThrow(
    expect.objectContaining({ code: 'invalid_state', message: 'it is malformed' }),
  );
});

const holder = (type: string, count: number) => [
  type === 'Map' ? ['Map', ...numbers(count).flatMap((at) => [at, -1])] : ['Set', ...numbers(count)],
];
test.each<[string, (more: number) => unknown, string]>([
  ['holes', (more) => [[-7, holesMax + more]], 'holes'],
  ['values of lists with a length', (more) => [[1], [-7, sentMaxValues - 2 + more]], 'values'],
  [
    'values that are met again',
    (more) => [[...Array(sentMaxValues / 2 - 1).fill(1), ...Array(more).fill(1)], [2], 7],
    'values',
  ],
  ['characters', (more) => [[1, 1], 'x'.repeat(sentMaxChars / 2 + more)], 'characters'],
  ['characters of names', (more) => [[1, 1], { ['x'.repeat(sentMaxChars / 2 + more)]: -1 }], 'characters'],
  [
    'characters of names without a prototype',
    (more) => [
      [1, 1],
      ['null', 'x'.repeat(sentMaxChars / 2 + more), -1],
    ],
    'characters',
  ],
  ['levels', (more) => [...numbers(richMaxDepth + more).map((at) => [at]), 'x'], 'levels'],
  ['digits of a bigint', (more) => [['BigInt', '9'.repeat(sentMaxBigintChars + more)]], 'bigint'],
  [
    'characters of patterns',
    (more) => [
      [1, 2],
      ['RegExp', 'a'.repeat(sentMaxPatternChars / 2)],
      ['RegExp', 'a'.repeat(sentMaxPatternChars / 2 + more)],
    ],
    'patterns',
  ],
  [
    'numbers as keys of a Map',
    (more) => [...holder('Map', sentMaxNumericKeys + more), ...Array(sentMaxNumericKeys + more).fill(7)],
    'keys',
  ],
  [
    'numbers as members of a Set',
    (more) => [...holder('Set', sentMaxNumericKeys + more), ...Array(sentMaxNumericKeys + more).fill(7)],
    'keys',
  ],
  [
    'bigints as keys',
    (more) => [
      ...holder('Map', sentMaxNumericKeys + more),
      ...Array(sentMaxNumericKeys + more).fill(['BigInt', '7']),
    ],
    'keys',
  ],
])('there may be as many %s as there may be, and not one more', (_what, make, said) => {
  expect(() => assertBounded(make(0))).not.toThrow();
  expect(() => assertBounded(make(1))).toThrow(
    expect.objectContaining({ code: 'invalid_state', message: expect.stringContaining(said) }),
  );
});

test('texts as keys, and numbers as values, are no numbers as keys', () => {
  const count = sentMaxNumericKeys + 1;
  const map = ['Map', ...numbers(count).flatMap((at) => [at, count + 1])];

  expect(() => assertBounded([map, ...Array(count).fill('key'), 7])).not.toThrow();
});
