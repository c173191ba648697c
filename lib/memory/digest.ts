import { hash } from 'node:crypto';

/**
 * SHA-256 over what a value is, whatever order its properties, map entries and set members are in: two values that are
 * stored equal have the same one, also where one of them has been stored and read. A property that is undefined is like
 * one that is not there. Iterative, so that no depth of nesting ends it; an object that is met again costs nothing.
 *
 * 1. go down to the leaves, 2. on the way back put together the text of each object of those of its children, and above
 * a few characters its hash. A reference to an object further up is the number of steps to it.
 */
export function digestOf(root: unknown): Uint8Array {
  return hash('sha256', textOf(root), 'buffer');
}

interface Frame {
  readonly object: object;
  readonly children: readonly unknown[];
  readonly texts: string[];
  readonly join: (texts: readonly string[]) => string;
}

function textOf(root: unknown): string {
  const known = new Map<object, string>();
  const depths = new Map<object, number>();
  const frames: Frame[] = [];
  let result: string | undefined;

  const settle = (text: string) => {
    const above = frames.at(-1);
    if (above === undefined) result = text;
    else above.texts.push(text);
  };
  const enter = (value: unknown) => {
    if (typeof value !== 'object' || value === null) return settle(short(leaf(value)));
    const text = known.get(value) ?? leafObject(value);
    if (text !== undefined) return settle(short(text));
    const depth = depths.get(value);
    if (depth !== undefined) return settle(`^${frames.length - depth}`);
    depths.set(value, frames.length);
    frames.push({ object: value, texts: [], ...partsOf(value) });
  };

  enter(root);
  for (let frame = frames.at(-1); frame !== undefined; frame = frames.at(-1)) {
    if (frame.texts.length < frame.children.length) {
      enter(frame.children[frame.texts.length]);
      continue;
    }
    frames.pop();
    depths.delete(frame.object);
    const text = short(frame.join(frame.texts));
    known.set(frame.object, text);
    settle(text);
  }
  return result ?? '';
}

const shortMaxChars = 64;

/** No leaf and no object begins with `#`: a hash stands for nothing else. It is short itself. */
function short(text: string): string {
  return text.length <= shortMaxChars ? text : `#${hash('sha256', text, 'base64url')}`;
}

function leaf(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value);
  if (typeof value === 'number') return Object.is(value, -0) ? 'n-0' : `n${value}`;
  return `${typeof value === 'bigint' ? 'i' : 'v'}${String(value)}`;
}

/** Objects without children. What is left of a view of bytes is its type and its bytes; a Buffer is a Uint8Array. */
function leafObject(value: object): string | undefined {
  if (value instanceof Date) return `D${value.getTime()}`;
  if (value instanceof RegExp) return `R${value}`;
  if (value instanceof URL) return `U${value}`;
  if (value instanceof URLSearchParams) return `P${value}`;
  if (
    value instanceof String ||
    value instanceof Number ||
    value instanceof Boolean ||
    value instanceof BigInt
  )
    return `B${leaf(value.valueOf())}`;
  if (value instanceof ArrayBuffer) return `A${hash('sha256', new Uint8Array(value), 'base64url')}`;
  if (!ArrayBuffer.isView(value)) return undefined;
  const type = Buffer.isBuffer(value) ? 'Uint8Array' : value.constructor.name;
  const bytes = new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
  return `T${type}:${hash('sha256', bytes, 'base64url')}`;
}

function partsOf(value: object): Pick<Frame, 'children' | 'join'> {
  if (value instanceof Map) {
    const entries = [...value];
    return {
      children: entries.flat(),
      join: (texts) => `M{${sorted(entries.map((_, at) => `${texts[2 * at]}=>${texts[2 * at + 1]}`))}}`,
    };
  }
  if (value instanceof Set) {
    const members = [...value];
    return { children: members, join: (texts) => `S{${sorted(texts)}}` };
  }
  if (Array.isArray(value) && Object.keys(value).length === value.length)
    return { children: value, join: (texts) => `[${texts.join()}]` };
  const names = Object.keys(value).sort();
  const entries = value as Record<string, unknown>;
  // An array with holes: its length, and what is in it. Its holes are not undefined.
  const present = Array.isArray(value) ? names : names.filter((name) => entries[name] !== undefined);
  const open = Array.isArray(value) ? `h${value.length}` : '';
  return {
    children: present.map((name) => entries[name]),
    join: (texts) => `${open}{${texts.map((text, at) => `${JSON.stringify(present[at])}:${text}`)}}`,
  };
}

function sorted(texts: readonly string[]): string {
  return [...texts].sort().join();
}
