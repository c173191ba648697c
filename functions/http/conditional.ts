import type { Preconditions } from '../../lib/persistence/snapshot-store.ts';
import { HttpError } from './http-error.ts';
import { etagsMax } from './limits.ts';
import type { HttpRequest } from './request.ts';

/** `If-Match` and `If-None-Match` as RFC 9110 (13.1.1, 13.1.2) reads them. A header that cannot be read is refused, never ignored. */
export function preconditions({ headers }: HttpRequest): Preconditions {
  return {
    // Strong comparison: a weak tag keeps its prefix, so that it equals no stored one.
    ifMatch: parse('If-Match', headers['if-match'], (weak, tag) => (weak ? `W/"${tag}"` : tag)),
    ifNoneMatch: parse('If-None-Match', headers['if-none-match'], (_weak, tag) => tag),
  };
}

const entityTag = /^(W\/)?"([\x21\x23-\x7e\x80-\u{10ffff}]+)"$/u;

function parse(
  name: string,
  header: string | undefined,
  toEtag: (weak: boolean, tag: string) => string,
): '*' | string[] | undefined {
  if (header === undefined) return undefined;
  if (header.trim() === '*') return '*';
  const elements = header.match(/(?:[^,"]|"[^"]*"?)+/g)?.filter((element) => element.trim() !== '') ?? [];
  const etags = elements.map((element) => {
    const match = entityTag.exec(element.trim());
    if (match?.[2] === undefined)
      throw new HttpError('invalid_request', `${name} must be * or entity tags in quotes`);
    return toEtag(match[1] !== undefined, match[2]);
  });
  if (etags.length === 0) throw new HttpError('invalid_request', `${name} is empty`);
  if (etags.length > etagsMax)
    throw new HttpError('invalid_request', `${name} holds more than ${etagsMax} entity tags`);
  return etags;
}
