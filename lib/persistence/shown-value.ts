import { inspect } from 'node:util';
import { isJsonValue } from './json-value.ts';

/** The value as JSON can show it: what JSON would lose, or does not take, is there as text. Never throws. */
export function shownValue(value: unknown): unknown {
  try {
    if (isJsonValue(value)) return value;
    const text = JSON.stringify(value, inWords);
    return text === undefined ? described(value) : JSON.parse(text);
  } catch {
    // A cycle, or a `toJSON` that throws.
    return described(value);
  }
}

function inWords(_name: string, value: unknown): unknown {
  return isLost(value) ? described(value) : value;
}

/** What JSON makes null or an empty object of, or refuses. A Date has its ISO form. */
function isLost(value: unknown): boolean {
  if (typeof value === 'number') return !Number.isFinite(value);
  if (typeof value === 'bigint') return true;
  return value instanceof Map || value instanceof Set || value instanceof RegExp || ArrayBuffer.isView(value);
}

function described(value: unknown): string {
  try {
    return inspect(value, { depth: 2 });
  } catch {
    return 'a value that cannot be shown';
  }
}
