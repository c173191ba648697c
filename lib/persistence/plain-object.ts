import { types } from 'node:util';

const { getOwnPropertyDescriptor, getPrototypeOf } = Object;

/**
 * Whether it is an object literal or has no prototype, and is nothing else underneath: what is in a Map or a Date whose
 * prototype was taken away is no property. Not for proxies.
 */
export function isPlainObject(value: object): boolean {
  const prototype = getPrototypeOf(value);
  return (prototype === Object.prototype || prototype === null) && !hasContentOfItsOwn(value);
}

function hasContentOfItsOwn(value: object): boolean {
  return (
    Array.isArray(value) ||
    types.isMap(value) ||
    types.isSet(value) ||
    types.isDate(value) ||
    types.isRegExp(value) ||
    types.isPromise(value) ||
    types.isNativeError(value) ||
    types.isBoxedPrimitive(value) ||
    types.isAnyArrayBuffer(value) ||
    ArrayBuffer.isView(value)
  );
}

/**
 * A property that comes back as it is; undefined for a hidden one, and for one with a getter or a setter. Reads it
 * without running anything: what a getter answers is not there, and may be another value, or endless, each time.
 */
export function storedProperty(of: object, name: string): { readonly value?: unknown } | undefined {
  const property = getOwnPropertyDescriptor(of, name);
  return property?.enumerable && 'value' in property ? property : undefined;
}
