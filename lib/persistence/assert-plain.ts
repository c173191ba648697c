import { isDeepStrictEqual, types } from 'node:util';
import { holesMax, jsonMaxDepth, richBytesMax, richMaxDepth } from '../defaults.ts';
import { InvalidStateError } from './persistence-error.ts';

/** The types that come back as what they were, by their prototype, and how an object shows that it is one. */
const restorable = new Map<unknown, Check>([
  [null, () => true],
  [Object.prototype, () => true],
  [Array.prototype, Array.isArray],
  [Map.prototype, types.isMap],
  [Set.prototype, types.isSet],
  [Date.prototype, types.isDate],
  [RegExp.prototype, types.isRegExp],
  [ArrayBuffer.prototype, types.isArrayBuffer],
  [DataView.prototype, types.isDataView],
  [URL.prototype, (value) => value instanceof URL],
  [URLSearchParams.prototype, (value) => value instanceof URLSearchParams],
  ...prototypesOf([String, Number, Boolean, BigInt], types.isBoxedPrimitive),
  ...prototypesOf(typedArrayTypes(), types.isTypedArray),
  [Buffer.prototype, types.isUint8Array],
]);

type Check = (value: object) => boolean;

function prototypesOf(of: readonly { prototype: object }[], check: Check): [unknown, Check][] {
  return of.map(({ prototype }) => [prototype, check]);
}

function typedArrayTypes(): { prototype: object }[] {
  // The last one is not in every version of Node.js.
  const { Float16Array } = globalThis as { Float16Array?: { prototype: object } };
  return [
    ...[Int8Array, Uint8Array, Uint8ClampedArray, Int16Array, Uint16Array, Int32Array, Uint32Array],
    ...[Float32Array, Float64Array, BigInt64Array, BigUint64Array],
    ...(Float16Array === undefined ? [] : [Float16Array]),
  ];
}

/** An object on the way from the root to the place that is looked at, and the child that is visited. */
interface Step extends Children {
  index: number;
}

interface Children {
  readonly values: ArrayLike<unknown>;
  /** How a path names the child at this index. */
  readonly nameOf: (index: number) => string;
}

/**
 * Throws `InvalidStateError` with the path of the first value, in document order, that would not come back as it is: an
 * instance of a class, a function or symbol, a built-in object with properties of its own, a hidden property. Also where
 * the state holds more levels, holes or bytes in buffers than it may.
 * Iterative, and in proportion to what is there: no depth ends it, and no length that is nothing but a number delays it.
 */
export function assertPlain(root: unknown): void {
  const seen = new Set<object>();
  const steps: Step[] = [];
  let holes = 0;
  let bytes = 0;

  const visit = (value: unknown): void => {
    if (typeof value === 'function' || typeof value === 'symbol') throw new Refusal(`a ${typeof value}`);
    if (typeof value !== 'object' || value === null || seen.has(value)) return;
    seen.add(value);
    assertType(value);
    if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer) {
      assertWholeBuffer(value);
      bytes += value.byteLength;
      if (bytes > richBytesMax)
        throw new Refusal(`one buffer too many: a state takes ${richBytesMax} bytes of them`);
      return;
    }
    if (steps.length === richMaxDepth) {
      throw new Refusal(
        `nesting of more than ${richMaxDepth} levels (${jsonMaxDepth} where all of it is JSON)`,
      );
    }
    const children = childrenOf(value);
    if (Array.isArray(value)) holes += value.length - children.values.length;
    if (holes > holesMax)
      throw new Refusal(`an array with too many holes: a state takes ${holesMax} of them`);
    steps.push({ ...children, index: -1 });
  };

  try {
    visit(root);
    for (let step = steps.at(-1); step !== undefined; step = steps.at(-1)) {
      step.index++;
      if (step.index < step.values.length) visit(step.values[step.index]);
      else steps.pop();
    }
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    const path = pathOf(steps, error.within);
    throw new InvalidStateError(
      `the state cannot be stored: ${error.message} at ${path}. Make plain data of it first, a state in the agent's dump`,
      { path },
    );
  }
}

/** Why the value that is visited is refused, before its path is known. */
class Refusal extends Error {
  /** What the path ends with, where it is a property of the value. */
  readonly within: string;

  constructor(message: string, within = '') {
    super(message);
    this.within = within;
  }
}

const pathMaxChars = 500;

function pathOf(steps: readonly Step[], end: string): string {
  const path = `$${steps.map(({ nameOf, index }) => nameOf(index)).join('')}${end}`;
  return path.length <= pathMaxChars
    ? path
    : `${path.slice(0, pathMaxChars / 2)}…${path.slice(-pathMaxChars / 2)}`;
}

function assertType(value: object): void {
  const isOne = restorable.get(Object.getPrototypeOf(value));
  if (isOne === undefined) throw new Refusal(`an instance of ${classOf(value)}`);
  if (!isOne(value)) throw new Refusal(`an object that only looks like an instance of ${classOf(value)}`);
  if (Object.getOwnPropertySymbols(value).length > 0) throw new Refusal('a property named by a symbol');
}

/** The constructor's name, in so far as it says one. */
function classOf(value: object): string {
  const type: unknown = Object.getPrototypeOf(value)?.constructor;
  const name: unknown = typeof type === 'function' ? type.name : undefined;
  return typeof name === 'string' && name !== '' ? name.slice(0, 100) : 'a class without a name';
}

function assertNoExtras(value: object): void {
  // What a String or a RegExp has of its own is restored with it (a `lastIndex` starts anew).
  const extra = Object.getOwnPropertyNames(value).find((name) => !/^(?:\d+|length|lastIndex)$/.test(name));
  if (extra !== undefined) throw new Refusal(`a ${classOf(value)} with a property '${extra}' of its own`);
}

function assertWholeBuffer(value: ArrayBufferView | ArrayBuffer): void {
  if (types.isTypedArray(value)) {
    try {
      value.entries();
    } catch {
      throw new Refusal(`a ${classOf(value)} whose buffer is detached or has become too short for it`);
    }
    if (!isDeepStrictEqual(value, twinOf(value)))
      throw new Refusal(`a ${classOf(value)} with a property of its own`);
    return;
  }
  assertNoExtras(value);
  try {
    new Uint8Array(ArrayBuffer.isView(value) ? value.buffer : value, 0, value.byteLength);
  } catch {
    throw new Refusal(`a ${classOf(value)} whose buffer is detached or has become too short for it`);
  }
}

/** The same memory without properties. The names of a view's own include each index, of which there may be millions. */
function twinOf(view: NodeJS.TypedArray): ArrayBufferView {
  const { buffer, byteOffset, length } = view;
  if (Buffer.isBuffer(view)) return Buffer.from(buffer, byteOffset, length);
  const Type = Object.getPrototypeOf(view).constructor as Uint8ArrayConstructor;
  return new Type(buffer, byteOffset, length);
}

/** In document order. */
function childrenOf(value: object): Children {
  if (Array.isArray(value)) return itemsOf(value);
  if (Object.getPrototypeOf(value) === null || Object.getPrototypeOf(value) === Object.prototype) {
    return propertiesOf(value as Record<string, unknown>);
  }
  assertNoExtras(value);
  if (types.isMap(value)) {
    const values = [...value].flat(1);
    return {
      values,
      nameOf: (index) => (index % 2 === 0 ? '.keys()' : `.get(${keyText(values[index - 1])})`),
    };
  }
  return { values: types.isSet(value) ? [...value] : [], nameOf: () => '.values()' };
}

function itemsOf(array: unknown[]): Children {
  // Indices come first, then `length`, then whatever was added.
  const names = Object.getOwnPropertyNames(array);
  const last = names.pop();
  if (last !== 'length') throw new Refusal(`an Array with a property '${last}' of its own`);
  if (names.length === array.length) return { values: array, nameOf: (index) => `[${index}]` };
  return {
    values: names.map((name) => array[Number(name)]),
    nameOf: (index) => `[${names[index]}]`,
  };
}

function propertiesOf(record: Readonly<Record<string, unknown>>): Children {
  const names = Object.keys(record);
  if (names.length !== Object.getOwnPropertyNames(record).length)
    throw new Refusal('a property that is not enumerable');
  if (names.includes('__proto__')) throw new Refusal('a property named __proto__', '.__proto__');
  return {
    values: names.map((name) => record[name]),
    nameOf: (index) => {
      const name = names[index] ?? '';
      return /^[\p{ID_Start}$_][\p{ID_Continue}$]*$/u.test(name) ? `.${name}` : `[${JSON.stringify(name)}]`;
    },
  };
}

function keyText(key: unknown): string {
  return typeof key === 'string' ? JSON.stringify(key) : typeof key;
}
