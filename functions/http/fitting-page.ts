import { TooLargeError } from '../../lib/errors.ts';
import { jsonText } from '../../lib/persistence/json-text.ts';
import { bodyMaxBytes } from './limits.ts';
import { encodeCursor, fromPlace } from './paging.ts';
import { type HttpResponse, json } from './response.ts';

interface Page {
  readonly items: readonly unknown[];
  readonly next?: string | undefined;
  /** The answer is to end here, though its limit allows more. */
  readonly isLast?: boolean;
}

interface PageRequest {
  /** What a cursor of this list is bound to. */
  readonly list: readonly string[];
  readonly limit: number;
  /** Where the page starts. */
  readonly after: string | undefined;
}

/** Room for what surrounds the items; a cursor may hold a whole session id. */
const pageMaxBytes = bodyMaxBytes - 2 * 1024;

/** The first read of a page is small, later ones grow: a thousand large items never meet in memory. */
const firstRead = 25;
const readGrowth = 4;

/** A JSON answer, unless it would not fit into Lambda's 6 MB. */
export function fittingJson(status: number, value: unknown): HttpResponse | undefined {
  const text = jsonText(value);
  // As a string inside the JSON of Lambda's answer, quotes and backslashes take two bytes.
  const fits = text.length * 4 <= bodyMaxBytes || travelBytes(text) <= bodyMaxBytes;
  return fits ? json(status, value) : undefined;
}

/**
 * A page as `{items, cursor?}`, read piece by piece; where the limit does not fit into an answer, it ends earlier and
 * its cursor goes on from there.
 *
 * @throws TooLargeError where already the first item fits into no answer
 */
export async function pageAnswer(
  { list, limit, after: start }: PageRequest,
  fetch: (limit: number, after: string | undefined) => Promise<Page>,
): Promise<HttpResponse> {
  const items: unknown[] = [];
  let bytes = 0;
  let after = start;
  let read = firstRead;
  let isFull = false;
  for (;;) {
    const from = after;
    const page = await fromPlace(from, () => fetch(Math.min(read, limit - items.length), from));
    const size = page.items.reduce((sum: number, item) => sum + travelBytes(jsonText(item)), 0);
    if (bytes + size <= pageMaxBytes) {
      items.push(...page.items);
      bytes += size;
      after = page.next;
      if (after === undefined || items.length === limit || isFull || page.isLast) break;
      read *= readGrowth;
    } else if (page.items.length > 1) {
      read = Math.floor(page.items.length / 2);
      isFull = true;
    } else if (items.length > 0) {
      break;
    } else {
      throw new TooLargeError(size, pageMaxBytes);
    }
  }
  return json(200, { items, cursor: after === undefined ? undefined : encodeCursor(list, after) });
}

/**
 * As many of these items, from the first on, as fit into one answer beside its other fields.
 *
 * @throws TooLargeError where already the first one does not
 */
export function fittingItems<Item>(items: readonly Item[], others: unknown): readonly Item[] {
  let bytes = travelBytes(jsonText(others));
  const tooMany = items.findIndex((item) => {
    bytes += travelBytes(jsonText(item));
    return bytes > pageMaxBytes;
  });
  if (tooMany === 0) throw new TooLargeError(bytes, pageMaxBytes);
  return tooMany === -1 ? items : items.slice(0, tooMany);
}

/** Whether a page could show the item: what no reader could be sent must not be stored over HTTP. */
export function assertListable(item: unknown): void {
  const size = travelBytes(jsonText(item));
  if (size > pageMaxBytes - filledInBytes) throw new TooLargeError(size, pageMaxBytes - filledInBytes);
}

/** What the library adds to a message that was sent without it: id, timestamp, source, metadata. */
const filledInBytes = 1024;

/** What the text takes inside the JSON of Lambda's answer. */
export function travelBytes(text: string): number {
  return Buffer.byteLength(JSON.stringify(text));
}
