import { inspect } from 'node:util';
import { jsonMaxDepth, shownMaxChars } from '../defaults.ts';

/**
 * The value as JSON can show it: a copy in which what JSON loses, or does not take, is there as text. A cycle, nesting
 * deeper than `jsonMaxDepth` and what would take more than `maxChars` are a short text as a whole.
 * Never throws, and `JSON.stringify` takes what it returns, whatever a getter, a `toJSON` or a proxy does. Time and
 * memory are in proportion to `maxChars`, not to the value.
 */
export function serializeValue(value: unknown, maxChars: number = shownMaxChars): unknown {
  try {
    return jsonCopy(value, maxChars);
  } catch {
    return described(value);
  }
}

interface Visit {
  readonly value: unknown;
  readonly name: string | number;
  readonly into: object;
  readonly depth: number;
}

/** The children of an object have all been visited: met again from here on, it is shared, not a cycle. */
interface Leave {
  readonly left: object;
}

/** Iterative, so that no depth of nesting ends it. */
function jsonCopy(root: unknown, maxChars: number): unknown {
  const holder: { copy?: unknown } = {};
  const ancestors = new Set<object>();
  const pending: (Visit | Leave)[] = [{ value: root, name: 'copy', into: holder, depth: 0 }];
  let room = maxChars;
  const take = (chars: number) => {
    room -= chars;
    if (room < 0) throw new RangeError('too long to be shown');
  };

  for (let step = pending.pop(); step !== undefined; step = pending.pop()) {
    if ('left' in step) {
      ancestors.delete(step.left);
      continue;
    }
    const { name, into, depth } = step;
    const value = inWords(step.value, name);
    take(typeof value === 'string' ? value.length : 1);
    if (typeof value !== 'object' || value === null) {
      set(into, name, value);
      continue;
    }
    if (ancestors.has(value) || depth === jsonMaxDepth) throw new RangeError('no tree that can be shown');
    ancestors.add(value);
    pending.push({ left: value });

    if (Array.isArray(value)) {
      const { length } = value;
      // Before anything of this size is made: the length of a list may be nothing but a number.
      take(length);
      const copy = new Array<unknown>(length).fill(null);
      set(into, name, copy);
      for (let index = 0; index < length; index++) {
        const item = read(value, index);
        if (item !== undefined) pending.push({ value: item, name: index, into: copy, depth: depth + 1 });
      }
    } else {
      const copy = {};
      set(into, name, copy);
      for (const key of Object.keys(value)) {
        take(key.length + 1);
        const property = read(value, key);
        if (property === undefined) continue;
        // There from the start, so that properties keep their order.
        set(copy, key, null);
        pending.push({ value: property, name: key, into: copy, depth: depth + 1 });
      }
    }
  }
  return holder.copy;
}

/** `__proto__` is a property like any other here. */
function set(into: object, name: string | number, value: unknown): void {
  if (name === '__proto__') {
    Object.defineProperty(into, name, { value, enumerable: true, configurable: true, writable: true });
  } else {
    (into as Record<string | number, unknown>)[name] = value;
  }
}

const unshowable = 'a value that cannot be shown';

function read(value: object, key: string | number): unknown {
  try {
    return (value as Record<string | number, unknown>)[key];
  } catch {
    return unshowable;
  }
}

/** What JSON makes null or an empty object of, or refuses, is text; a Date has its ISO form. */
function inWords(value: unknown, name: string | number): unknown {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return value;
  if (typeof value === 'number') return Number.isFinite(value) ? value : String(value);
  if (typeof value !== 'object') return described(value);
  try {
    if (isLost(value)) return described(value);
    if (value instanceof Number || value instanceof String || value instanceof Boolean)
      return inWords(value.valueOf(), name);
    const { toJSON } = value as { toJSON?: unknown };
    if (typeof toJSON !== 'function') return value;
    const told: unknown = toJSON.call(value, String(name));
    return typeof told === 'object' ? told : inWords(told, name);
  } catch {
    return unshowable;
  }
}

function isLost(value: object): boolean {
  if (value instanceof Date) return Number.isNaN(value.getTime());
  return (
    value instanceof Map ||
    value instanceof Set ||
    value instanceof RegExp ||
    value instanceof Error ||
    ArrayBuffer.isView(value)
  );
}

const excerptDepth = 3;
const excerptEntries = 8;
const excerptStringChars = 200;
const describedMaxChars = 2_000;

/** A short text about any value: the beginning of what Node.js would print of it. */
function described(value: unknown): string {
  try {
    const excerpt = excerptOf(value, 0, new Map());
    const text = typeof excerpt === 'string' ? excerpt : inspect(excerpt, { depth: excerptDepth });
    return text.length > describedMaxChars ? `${text.slice(0, describedMaxChars).toWellFormed()}…` : text;
  } catch {
    return unshowable;
  }
}

/**
 * The first entries of the first levels, as plain values: `inspect` itself prints every property that there is, and
 * calls what a value brings for it.
 */
function excerptOf(value: unknown, depth: number, kept: Map<object, unknown>): unknown {
  if (typeof value === 'string') return beginningOf(value);
  if (typeof value === 'bigint') return BigInt.asIntN(512, value) === value ? value : 'a large bigint';
  if (typeof value === 'function') return beginningOf(`[Function: ${value.name || 'anonymous'}]`);
  if (typeof value === 'symbol') return beginningOf(String(value));
  if (typeof value !== 'object' || value === null) return value;
  if (kept.has(value)) return kept.get(value);
  if (ArrayBuffer.isView(value)) return `[${viewName(value)} of ${value.byteLength} bytes]`;
  if (value instanceof RegExp) return beginningOf(String(value));
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? 'Invalid Date' : value.toISOString();
  if (value instanceof Error) return beginningOf(`${value.name}: ${beginningOf(value.message)}`);
  if (depth === excerptDepth) return Array.isArray(value) ? '[Array]' : '[Object]';

  const within = (child: unknown) => excerptOf(child, depth + 1, kept);
  const keep = <T extends object>(copy: T): T => {
    kept.set(value, copy);
    return copy;
  };
  if (value instanceof Map) {
    const copy = keep(new Map<unknown, unknown>());
    for (const [key, entry] of firstOf(value)) copy.set(within(key), within(entry));
    return copy;
  }
  if (value instanceof Set) {
    const copy = keep(new Set<unknown>());
    for (const entry of firstOf(value)) copy.add(within(entry));
    return copy;
  }
  if (Array.isArray(value)) {
    const copy = keep<unknown[]>([]);
    const length = Math.min(value.length, excerptEntries);
    for (let index = 0; index < length; index++) copy.push(within(read(value, index)));
    if (value.length > length) copy.push(`… ${value.length} in all`);
    return copy;
  }
  const copy = keep({});
  for (const key of firstOf(Object.keys(value))) set(copy, beginningOf(key), within(read(value, key)));
  return copy;
}

function* firstOf<T>(values: Iterable<T>): Iterable<T> {
  let count = 0;
  for (const value of values) {
    if (count++ === excerptEntries) return;
    yield value;
  }
}

function beginningOf(text: string): string {
  return text.length > excerptStringChars ? `${text.slice(0, excerptStringChars)}…` : text;
}

function viewName(view: ArrayBufferView): string {
  return Object.prototype.toString.call(view).slice('[object '.length, -1);
}
