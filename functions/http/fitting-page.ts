import { TooLargeError } from '../../lib/persistence/persistence-error.ts';
import { bodyMaxBytes } from './limits.ts';
import { encodeCursor } from './paging.ts';
import { type HttpResponse, json } from './response.ts';

interface Page {
  readonly items: readonly unknown[];
  readonly next?: string | undefined;
}

/** A JSON answer, unless it would not fit into Lambda's 6 MB. */
export function fittingJson(status: number, value: unknown): HttpResponse | undefined {
  const text = JSON.stringify(value);
  // As a string inside the JSON of Lambda's answer, quotes and backslashes take two bytes.
  const fits = text.length * 4 <= bodyMaxBytes || Buffer.byteLength(JSON.stringify(text)) <= bodyMaxBytes;
  return fits ? json(status, value) : undefined;
}

/** A page as `{items, cursor?}`; where it does not fit into an answer, a shorter one, whose cursor goes on after it. */
export async function pageAnswer(
  list: readonly string[],
  limit: number,
  fetch: (limit: number) => Promise<Page>,
): Promise<HttpResponse> {
  for (let size = limit; ; size = Math.ceil(size / 2)) {
    const { items, next } = await fetch(size);
    const cursor = next === undefined ? undefined : encodeCursor(list, next);
    const answer = fittingJson(200, { items, cursor });
    if (answer !== undefined) return answer;
    if (size === 1) throw new TooLargeError(undefined, bodyMaxBytes);
  }
}
