import { createHash } from 'node:crypto';
import { HttpError } from './http-error.ts';
import type { HttpRequest } from './request.ts';

const limitDefault = 50;
const limitMax = 1000;

export function pageLimit({ query }: HttpRequest): number {
  const limit = query.limit;
  if (limit === undefined) return limitDefault;
  if (!/^[1-9]\d{0,3}$/.test(limit) || Number(limit) > limitMax) {
    throw new HttpError('invalid_request', `limit must be a whole number from 1 to ${limitMax}`);
  }
  return Number(limit);
}

/**
 * A place in one list as an opaque cursor. It carries a digest over the place and the list it belongs to, so that a
 * mangled cursor, or one of another list, is refused. No secret: a cursor reaches nothing that its list does not.
 */
export function encodeCursor(list: readonly string[], place: string): string {
  return Buffer.concat([digest(list, place), Buffer.from(place)]).toString('base64url');
}

export function decodeCursor(list: readonly string[], { query }: HttpRequest): string | undefined {
  if (query.cursor === undefined) return undefined;
  const bytes = Buffer.from(query.cursor, 'base64url');
  const place = bytes.subarray(digestBytes).toString();
  const isOurs =
    bytes.toString('base64url') === query.cursor &&
    digest(list, place).equals(bytes.subarray(0, digestBytes));
  if (!isOurs) throw new HttpError('invalid_cursor', 'the cursor is damaged, or belongs to another list');
  return place;
}

const digestBytes = 12;

function digest(list: readonly string[], place: string): Buffer {
  return createHash('sha256')
    .update(JSON.stringify([list, place]))
    .digest()
    .subarray(0, digestBytes);
}
