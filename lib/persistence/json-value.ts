import { types } from 'node:util';
import { jsonMaxDepth } from '../defaults.ts';
import { isPlainObject, storedProperty } from './plain-object.ts';

/**
 * True when JSON carries the value without loss: a tree of plain objects, dense arrays, strings, finite numbers other
 * than -0, booleans and null. A property whose value is undefined is left out by `JSON.stringify`, and counts as absent.
 * An object that is met twice (a cycle, a shared reference) is not a tree.
 */
export function isJsonValue(root: unknown): boolean {
  const seen = new Set<object>();
  return everyLevel(root, (value) => {
    if (seen.has(value)) return false;
    seen.add(value);
    return true;
  });
}

/** As `isJsonValue`, for a writer to whom a shared reference is no loss: JSON writes such a value each time it is met. */
export function isJsonWhenWrittenOut(root: unknown, maxObjects = 1_000_000): boolean {
  // A cycle never ends, and references to references double: both end here.
  let objects = 0;
  return everyLevel(root, () => ++objects <= maxObjects);
}

/** Level by level, so that no depth of nesting ends it. */
function everyLevel(root: unknown, isFine: (value: object) => boolean): boolean {
  let level: unknown[] = [root];
  for (let depth = 0; level.length > 0; depth++) {
    const next: unknown[] = [];
    for (const value of level) {
      if (value === null || typeof value === 'string' || typeof value === 'boolean') continue;
      if (typeof value === 'number') {
        if (!Number.isFinite(value) || Object.is(value, -0)) return false;
        continue;
      }
      if (typeof value !== 'object' || types.isProxy(value)) return false;
      if (depth === jsonMaxDepth || !isFine(value)) return false;
      if (!pushChildren(value, next)) return false;
    }
    level = next;
  }
  return true;
}

function pushChildren(value: object, next: unknown[]): boolean {
  const isList = Array.isArray(value) && Object.getPrototypeOf(value) === Array.prototype;
  if (!isList && !(isPlainObject(value) && Object.getPrototypeOf(value) === Object.prototype)) return false;
  if (Object.getOwnPropertySymbols(value).length > 0) return false;
  const names = Object.getOwnPropertyNames(value);
  // Its indices and `length`; of an array with holes the length is nothing but a number.
  if (isList && (names.length !== value.length + 1 || names.pop() !== 'length')) return false;
  for (const name of names) {
    const property = storedProperty(value, name);
    if (property === undefined) return false;
    if (property.value !== undefined) next.push(property.value);
    else if (isList) return false;
  }
  return true;
}
