import { HttpError } from '../http-error.ts';
import { etagsMax } from '../limits.ts';

const entityTag = /^(W\/)?"([\x21\x23-\x7e\x80-\u{10ffff}]+)"$/u;

/**
 * `*`, or the ETags of a header as RFC 9110 (13.1.1, 13.1.2) reads it.
 *
 * @throws HttpError for a header that cannot be read: it is never ignored
 */
export function parseEtags(
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
      throw new HttpError('invalid_request', `${name} must be * or ETags in double quotes, such as "abc"`);
    return toEtag(match[1] !== undefined, match[2]);
  });
  if (etags.length === 0)
    throw new HttpError('invalid_request', `${name} is empty: send * or ETags, or leave it out`);
  if (etags.length > etagsMax)
    throw new HttpError('invalid_request', `${name} holds ${etags.length} ETags, the limit is ${etagsMax}`);
  return etags;
}
