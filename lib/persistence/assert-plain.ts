import { isDeepStrictEqual, types } from 'node:util';
import { bigintMaxDigits, holesMax, jsonMaxDepth, richBytesMax, richMaxDepth } from '../defaults.ts';
import { InvalidStateError } from '../errors.ts';
import { isPlainObject, storedProperty } from './plain-object.ts';

/** The types that come back as what they were, by their prototype, and how an object shows that it is one. */
const restorable = new Map<unknown, Check>([
  [null, isPlainObject],
  [Object.prototype, isPlainObject],
  [Array.prototype, Array.isArray],
  [Map.prototype, types.isMap],
  [Set.prototype, types.isSet],
  [Date.prototype, types.isDate],
  [RegExp.prototype, types.isRegExp],
  [ArrayBuffer.prototype, types.isArrayBuffer],
  [DataView.prototype, types.isDataView],
  [URL.prototype, (value) => value instanceof URL],
  [URLSearchParams.prototype, (value) => value instanceof URLSearchParams],
  [String.prototype, types.isStringObject],
  [Number.prototype, types.isNumberObject],
  [Boolean.prototype, types.isBooleanObject],
  [BigInt.prototype, types.isBigIntObject],
  ...typedArrayTypes().map(({ prototype }): [unknown, Check] => [prototype, types.isTypedArray]),
  [Buffer.prototype, types.isUint8Array],
]);

type Check = (value: object) => boolean;

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
  readonly count: number;
  readonly childAt: (index: number) => unknown;
  /** How a path names the child at this index. */
  readonly nameOf: (index: number) => string;
}

/**
 * Throws `InvalidStateError` with the path of the first value, in document order, that would not come back as it is: an
 * instance of a class, a function or symbol, a Proxy, a built-in object with properties of its own, a property that is
 * hidden or has a getter. Also where the state holds more levels, holes or bytes in buffers than it may. Runs none of the
 * state's own code.
 * Iterative, and in proportion to what is there: no depth ends it, and no length that is nothing but a number delays it.
 */
export function assertPlain(root: unknown): void {
  const seen = new Set<object>();
  const steps: Step[] = [];
  let holes = 0;
  let bytes = 0;

  const visit = (value: unknown): void => {
    if (typeof value === 'function' || typeof value === 'symbol') throw new Refusal(`a ${typeof value}`);
    if (typeof value === 'bigint') assertShort(value);
    if (typeof value !== 'object' || value === null || seen.has(value)) return;
    // What it answers may be another value each time, or endless. Its own code would run here.
    if (types.isProxy(value)) throw new Refusal('a Proxy');
    seen.add(value);
    assertType(value);
    if (types.isBigIntObject(value)) assertShort(value.valueOf());
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
    if (Array.isArray(value)) holes += value.length - children.count;
    if (holes > holesMax)
      throw new Refusal(`an array with too many holes: a state takes ${holesMax} of them`);
    steps.push({ ...children, index: -1 });
  };

  try {
    visit(root);
    for (let step = steps.at(-1); step !== undefined; step = steps.at(-1)) {
      step.index++;
      if (step.index < step.count) visit(step.childAt(step.index));
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

const bigintEnd = 10n ** BigInt(bigintMaxDigits);

/** Its text takes ten times as long for three times as many digits. */
function assertShort(value: bigint): void {
  if (value >= bigintEnd || value <= -bigintEnd)
    throw new Refusal(`a bigint of more than ${bigintMaxDigits} digits`);
}

/** The constructor's name, in so far as it says one. */
function classOf(value: object): string {
  const type: unknown = Object.getPrototypeOf(value)?.constructor;
  const name: unknown = typeof type === 'function' ? type.name : undefined;
  return typeof name === 'string' && name !== '' ? name.slice(0, 100) : 'a class without a name';
}

function assertNoExtras(value: object): void {
  const extra = Object.getOwnPropertyNames(value).find((name) => !isRestoredWith(value, name));
  if (extra !== undefined) throw new Refusal(`a ${classOf(value)} with a property '${extra}' of its own`);
}

/** What a String or a RegExp has of its own (a `lastIndex` starts anew). */
function isRestoredWith(value: object, name: string): boolean {
  if (types.isRegExp(value)) return name === 'lastIndex';
  return types.isStringObject(value) && Object.hasOwn(Object(String.prototype.valueOf.call(value)), name);
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
  if (isPlainObject(value)) return propertiesOf(value);
  assertNoExtras(value);
  if (types.isMap(value)) {
    const items = [...value].flat(1);
    return {
      ...of(items),
      nameOf: (index) => (index % 2 === 0 ? '.keys()' : `.get(${keyText(items[index - 1])})`),
    };
  }
  return { ...of(types.isSet(value) ? [...value] : []), nameOf: () => '.values()' };
}

function of(items: readonly unknown[]): Pick<Children, 'count' | 'childAt'> {
  return { count: items.length, childAt: (index) => items[index] };
}

function itemsOf(array: unknown[]): Children {
  // Indices come first, then `length`, then whatever was added.
  const names = Object.getOwnPropertyNames(array);
  const last = names.pop();
  if (last !== 'length') throw new Refusal(`an Array with a property '${last}' of its own`);
  return { ...properties(array, names), nameOf: (index) => `[${names[index]}]` };
}

function propertiesOf(record: object): Children {
  const names = Object.getOwnPropertyNames(record);
  if (names.length !== Object.keys(record).length) throw new Refusal('a property that is not enumerable');
  if (names.includes('__proto__')) throw new Refusal('a property named __proto__', '.__proto__');
  return { ...properties(record, names), nameOf: (index) => nameInPath(names[index] ?? '') };
}

function properties(object: object, names: readonly string[]): Pick<Children, 'count' | 'childAt'> {
  const childAt = (index: number) => {
    const name = names[index] ?? '';
    const property = storedProperty(object, name);
    if (property !== undefined) return property.value;
    const isEnumerable = Object.prototype.propertyIsEnumerable.call(object, name);
    throw new Refusal(`a property that ${isEnumerable ? 'has a getter or setter' : 'is not enumerable'}`);
  };
  return { count: names.length, childAt };
}

function nameInPath(name: string): string {
  return /^[\p{ID_Start}$_][\p{ID_Continue}$]*$/u.test(name) ? `.${name}` : `[${JSON.stringify(name)}]`;
}

function keyText(key: unknown): string {
  return typeof key === 'string' ? JSON.stringify(key) : typeof key;
}
