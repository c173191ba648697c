import { InvalidInputError } from '../errors.ts';
import type { ErrorPage, ErrorQuery, LoggedError } from './error-log.ts';

/** Where a page starts: after which entry, and how many were on the pages before. */
export interface ErrorPlace {
  readonly before: string | undefined;
  readonly seen: number;
}

export function parseErrorPlace(after: string | undefined): ErrorPlace {
  if (after === undefined) return { before: undefined, seen: 0 };
  const match = /^(\d{1,9})\/(\d{15}\.\d{9}\.[\w-]{1,64})$/.exec(after);
  if (match === null) throw new InvalidInputError('after', 'the list cannot go on from there');
  return { before: match[2], seen: Number(match[1]) };
}

/** How many entries a page needs to know of: one more than it shows, but none beyond the rolling limit. */
export function wantedOf({ limit, maxErrors }: ErrorQuery, { seen }: ErrorPlace): number {
  return Math.max(0, Math.min(limit + 1, maxErrors - seen));
}

/** `newest` are the entries from the page's start on, newest first, as many as are wanted or there. */
export function errorPage(
  newest: readonly LoggedError[],
  { limit }: ErrorQuery,
  { seen }: ErrorPlace,
): ErrorPage {
  const items = newest.slice(0, limit);
  const last = items.at(-1);
  return { items, next: newest.length > limit && last ? `${seen + items.length}/${last.id}` : undefined };
}
