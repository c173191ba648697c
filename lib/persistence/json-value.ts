/**
 * True when JSON carries the value without loss: a tree of plain objects, dense arrays, strings, finite numbers other
 * than -0, booleans and null. An object that is met twice (a cycle, a shared reference) is not a tree.
 * Iterative, so that no depth of nesting ends it.
 */
export function isJsonValue(root: unknown): boolean {
  const seen = new Set<object>();
  const pending: unknown[] = [root];
  while (pending.length > 0) {
    const value = pending.pop();
    if (value === null || typeof value === 'string' || typeof value === 'boolean') continue;
    if (typeof value === 'number') {
      if (!Number.isFinite(value) || Object.is(value, -0)) return false;
      continue;
    }
    if (typeof value !== 'object' || seen.has(value)) return false;
    seen.add(value);
    const prototype = Object.getPrototypeOf(value);
    if (prototype === Array.prototype) {
      const items = value as unknown[];
      if (Object.keys(items).length !== items.length) return false;
      for (const item of items) pending.push(item);
      continue;
    }
    if (prototype !== Object.prototype || Object.getOwnPropertySymbols(value).length > 0) return false;
    if (Object.getOwnPropertyNames(value).length !== Object.keys(value).length) return false;
    for (const property of Object.values(value)) pending.push(property);
  }
  return true;
}
