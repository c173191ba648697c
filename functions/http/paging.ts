import { createHash } from 'node:crypto';
import { InvalidInputError, InvalidOptionError } from '../../lib/errors.ts';
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
  const place = placeIn(list, query.cursor);
  if (place === undefined) throw invalidCursor();
  return place;
}

/** The place that a cursor of this list was made of; undefined where it is none. */
export function placeIn(list: readonly string[], cursor: string): string | undefined {
  const bytes = Buffer.from(cursor, 'base64url');
  const place = bytes.subarray(digestBytes).toString();
  const isOurs =
    bytes.toString('base64url') === cursor && digest(list, place).equals(bytes.subarray(0, digestBytes));
  return isOurs ? place : undefined;
}

/**
 * Reads a page. Who knows how cursors are made can make one of any place: the list itself refuses a place that it cannot
 * have given, which is the cursor's fault then.
 */
export async function fromPlace<Page>(after: string | undefined, read: () => Promise<Page>): Promise<Page> {
  try {
    return await read();
  } catch (error) {
    const refusesPlace =
      error instanceof InvalidOptionError || (error instanceof InvalidInputError && error.field === 'after');
    throw after !== undefined && refusesPlace ? invalidCursor(error) : error;
  }
}

function invalidCursor(cause?: unknown): HttpError {
  const detail =
    'the cursor is damaged, or belongs to another list: send the cursor of the page before as it came';
  return new HttpError('invalid_cursor', detail, { cause });
}

const digestBytes = 12;

function digest(list: readonly string[], place: string): Buffer {
  return createHash('sha256')
    .update(JSON.stringify([list, place]))
    .digest()
    .subarray(0, digestBytes);
}
