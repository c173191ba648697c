import { HttpError } from './http-error.ts';

interface JsonLimits {
  readonly maxDepth: number;
  readonly maxValues: number;
}

const quote = 0x22;
const comma = 0x2c;
const backslash = 0x5c;
const [listStart, listEnd] = [0x5b, 0x5d];
const [objectStart, objectEnd] = [0x7b, 0x7d];

/**
 * Refuses JSON that nests deeper or holds more values than that, from its bytes alone: parsed, two bytes may take a
 * hundred. One pass, and none where the body is too short for either.
 */
export function assertJsonWithin(data: Uint8Array, { maxDepth, maxValues }: JsonLimits): void {
  // A level takes two bytes, a value and its comma as many.
  if (data.length <= 2 * Math.min(maxDepth, maxValues)) return;
  let depth = 0;
  let values = 1;
  for (let at = 0; at < data.length; at++) {
    const byte = data[at];
    if (byte === quote) {
      for (at++; at < data.length && data[at] !== quote; at++) if (data[at] === backslash) at++;
    } else if (byte === comma) {
      values++;
    } else if (byte === listStart || byte === objectStart) {
      values++;
      depth++;
      if (depth > maxDepth) {
        throw new HttpError('invalid_json', `the body is nested too deep: ${maxDepth} levels are taken`, {
          limit: maxDepth,
        });
      }
    } else if (byte === listEnd || byte === objectEnd) {
      depth--;
    }
    if (values > maxValues) {
      throw new HttpError(
        'too_large',
        `the body holds more values than can be read: the limit is ${maxValues}`,
        { limit: maxValues },
      );
    }
  }
}
