import {
  holesMax,
  richMaxDepth,
  sentMaxBigintChars,
  sentMaxChars,
  sentMaxNumericKeys,
  sentMaxPatternChars,
  sentMaxValues,
} from '../defaults.ts';
import { InvalidStateError } from '../errors.ts';

/*
 * devalue's text is a flat JSON array whose first value is the state. Values name each other by their indices in it;
 * negative numbers stand for what JSON has no word for. Its small print allows a few bytes to stand for a lot: lengths
 * that are nothing but numbers, and values that are referred to from values that are.
 */

/** undefined, NaN, Infinity, -Infinity, -0. */
const constants: ReadonlySet<unknown> = new Set([-1, -3, -4, -5, -6]);
const hole = -2;
/** `[-7, length, index, value, …]`: an array with holes. */
export const sparseTag = -7;

/**
 * Refuses a text of this format that is malformed, or whose state is larger than its bytes. Costs what its bytes do.
 *
 * @param flat the text, parsed as JSON
 */
export function assertBounded(flat: unknown): void {
  if (constants.has(flat)) return;
  if (!Array.isArray(flat) || flat.length === 0) malformed();
  const read = reader(flat);
  // Of a value as a tree, in which a value that is referred to twice stands twice, and a cycle ends where it closes.
  const values = new Float64Array(flat.length);
  const chars = new Float64Array(flat.length);
  const depths = new Int32Array(flat.length);
  const isOpen = new Uint8Array(flat.length);
  const steps: { readonly at: number; readonly children: readonly number[]; next: number }[] = [];

  const open = (at: number) => {
    const entry = read(flat[at]);
    isOpen[at] = 1;
    values[at] = entry.values;
    chars[at] = entry.chars;
    steps.push({ at, children: entry.children, next: 0 });
  };
  const add = (at: number, child: number) => {
    const sum = (of: Float64Array) => {
      of[at] = (of[at] ?? 0) + (of[child] ?? 0);
      return of[at] ?? 0;
    };
    depths[at] = Math.max(depths[at] ?? 0, 1 + (depths[child] ?? 0));
    if ((depths[at] ?? 0) > richMaxDepth) refuse(`it is nested deeper than ${richMaxDepth} levels`);
    if (sum(values) > sentMaxValues) refuse(`written out it holds more than ${sentMaxValues} values`);
    if (sum(chars) > sentMaxChars) refuse(`written out it holds more than ${sentMaxChars} characters`);
  };

  open(0);
  for (let step = steps.at(-1); step !== undefined; step = steps.at(-1)) {
    const child = step.children[step.next];
    if (child === undefined) {
      isOpen[step.at] = 0;
      steps.pop();
    } else if (child >= 0 && values[child] === 0) {
      // Comes back to this child once its own sum is known.
      open(child);
    } else {
      step.next++;
      if (child >= 0 && isOpen[child] === 0) add(step.at, child);
    }
  }
}

function refuse(why: string): never {
  throw new InvalidStateError(why);
}

function malformed(): never {
  refuse('it is malformed');
}

interface Entry {
  /** Indices of the values that it holds. */
  readonly children: readonly number[];
  /** What it takes itself: one value, or one for each place of an array with holes. */
  readonly values: number;
  readonly chars: number;
}

const views: ReadonlySet<unknown> = new Set([
  ...['Int8Array', 'Uint8Array', 'Uint8ClampedArray', 'Int16Array', 'Uint16Array', 'Float16Array'],
  ...['Int32Array', 'Uint32Array', 'Float32Array', 'Float64Array', 'BigInt64Array', 'BigUint64Array'],
  'DataView',
]);

/** Reads one value of the text. What is limited for all of them together is counted on the way. */
function reader(flat: readonly unknown[]): (value: unknown) => Entry {
  let holes = 0;
  let numericKeys = 0;
  let patternChars = 0;

  const index = (value: unknown): number => {
    if (constants.has(value) || isWithin(value, flat.length)) return value as number;
    return malformed();
  };
  const tagAt = (at: number): unknown => {
    const value = flat[at];
    return Array.isArray(value) ? value[0] : undefined;
  };
  const leaf = (text: unknown): Entry =>
    typeof text === 'string' ? { children: [], values: 1, chars: text.length } : malformed();
  const holder = (children: readonly unknown[], chars = 0): Entry => ({
    children: children.map(index),
    values: 1,
    chars,
  });

  /** A Map finds numbers by a hash that everybody knows: with enough that were chosen for theirs it takes minutes. */
  const countKey = (value: unknown) => {
    const at = index(value);
    if (typeof flat[at] === 'number' || tagAt(at) === 'BigInt') numericKeys++;
    if (numericKeys > sentMaxNumericKeys)
      refuse(`its Maps and Sets have more than ${sentMaxNumericKeys} numbers as keys`);
  };

  const sparse = (length: unknown, pairs: readonly unknown[]): Entry => {
    if (!isWithin(length, 2 ** 32)) return malformed();
    holes += length;
    if (holes > holesMax) refuse(`its arrays with holes are longer than ${holesMax} together`);
    if (!pairs.every((place, at) => at % 2 === 1 || isWithin(place, length)) || pairs.length % 2 === 1)
      malformed();
    return { ...holder(pairs.filter((_, at) => at % 2 === 1)), values: 1 + length };
  };

  const tagged = (tag: string, content: readonly unknown[]): Entry => {
    const [first] = content;
    if (views.has(tag)) return tagAt(index(first)) === 'ArrayBuffer' ? holder([first]) : malformed();
    switch (tag) {
      case 'Date':
      case 'URL':
      case 'URLSearchParams':
      case 'ArrayBuffer':
        return leaf(first);
      case 'BigInt': {
        const entry = leaf(first);
        if (!/^-?\d+$/.test(first as string)) malformed();
        if (entry.chars > sentMaxBigintChars)
          refuse(`it has a bigint of more than ${sentMaxBigintChars} digits`);
        return entry;
      }
      case 'RegExp': {
        const entry = leaf(first);
        patternChars += entry.chars;
        // Some take a thousand times as long to be read as others.
        if (patternChars > sentMaxPatternChars)
          refuse(`its patterns are longer than ${sentMaxPatternChars} characters together`);
        return entry;
      }
      case 'Set':
        for (const key of content) countKey(key);
        return holder(content);
      case 'Map':
        if (content.length % 2 === 1) malformed();
        for (let at = 0; at < content.length; at += 2) countKey(content[at]);
        return holder(content);
      case 'null': {
        const names = content.filter((_, at) => at % 2 === 0);
        if (content.length % 2 === 1 || !names.every((name) => typeof name === 'string')) malformed();
        return holder(
          content.filter((_, at) => at % 2 === 1),
          names.join('').length,
        );
      }
      case 'Object':
        if (typeof flat[index(first)] === 'object' && tagAt(index(first)) !== 'BigInt') malformed();
        return holder([first]);
      case 'View':
        return holder([first]);
      default:
        return malformed();
    }
  };

  return (value) => {
    if (typeof value === 'string') return leaf(value);
    if (typeof value !== 'object' || value === null) return { children: [], values: 1, chars: 0 };
    if (!Array.isArray(value)) return holder(Object.values(value), Object.keys(value).join('').length);
    const [first, ...rest] = value;
    if (typeof first === 'string') return tagged(first, rest);
    if (first === sparseTag) return sparse(rest[0], rest.slice(1));
    return holder(value.filter((item) => item !== hole));
  };
}

function isWithin(value: unknown, end: number): value is number {
  return Number.isInteger(value) && (value as number) >= 0 && (value as number) < end;
}
