import { InvalidStateError } from './persistence-error.ts';

const typedArray: object = Object.getPrototypeOf(Uint8Array.prototype);

/** What devalue brings back as what it was. An instance of a subclass would come back as an instance of its base. */
const restorable: ReadonlySet<unknown> = new Set([
  null,
  ...[Object, Array, Map, Set, Date, RegExp, URL, URLSearchParams].map(({ prototype }) => prototype),
  ...[ArrayBuffer, DataView, Buffer, String, Number, Boolean, BigInt].map(({ prototype }) => prototype),
]);

interface Place {
  readonly value: unknown;
  readonly path: string;
}

/**
 * Throws `InvalidStateError` with the path of the first object that would come back as something less: an instance of a
 * class, a built-in object with properties of its own, a property that is hidden or named by a symbol.
 * Functions and symbols are left to devalue, which refuses them with their path. Iterative: no depth ends it.
 */
export function assertPlain(root: unknown): void {
  const seen = new Set<object>();
  const pending: Place[] = [{ value: root, path: '$' }];
  for (let place = pending.pop(); place !== undefined; place = pending.pop()) {
    const { value, path } = place;
    if (typeof value !== 'object' || value === null || seen.has(value)) continue;
    seen.add(value);
    if (!restorable.has(Object.getPrototypeOf(value)) && !isTypedArray(value)) {
      refuse(path, 'an instance of a class');
    }
    assertNoExtras(value, path);
    for (const child of childrenOf(value, path)) pending.push(child);
  }
}

function isTypedArray(value: object): boolean {
  const prototype = Object.getPrototypeOf(value);
  return prototype !== null && Object.getPrototypeOf(prototype) === typedArray;
}

function refuse(path: string, what: string): never {
  throw new InvalidStateError(`the state cannot be stored: ${what} at ${path}`, { path });
}

function assertNoExtras(value: object, path: string): void {
  if (Object.getOwnPropertySymbols(value).length > 0) refuse(path, 'a property named by a symbol');
  const isRecord = [Object.prototype, null].includes(Object.getPrototypeOf(value));
  // The names of a typed array's properties are its indices, and there may be millions.
  const names = ArrayBuffer.isView(value) ? Object.keys(value) : Object.getOwnPropertyNames(value);
  if (isRecord) {
    if (names.length !== Object.keys(value).length) refuse(path, 'a property that is not enumerable');
    return;
  }
  const extra = names.find((name) => !/^(?:\d+|length|lastIndex)$/.test(name));
  if (extra !== undefined) refuse(path, `a property '${extra}' of its own`);
}

function childrenOf(value: object, path: string): Place[] {
  if (value instanceof Map) {
    return [...value].flatMap(([key, entry]) => [
      { value: key, path: `${path}.keys()` },
      { value: entry, path: `${path}.get(${typeof key === 'string' ? JSON.stringify(key) : typeof key})` },
    ]);
  }
  if (value instanceof Set) return [...value].map((entry) => ({ value: entry, path: `${path}.values()` }));
  if (Array.isArray(value)) return value.map((entry, index) => ({ value: entry, path: `${path}[${index}]` }));
  if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer) return [];
  return Object.entries(value).map(([name, entry]) => ({ value: entry, path: `${path}.${name}` }));
}
