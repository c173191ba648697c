import { jsonMaxDepth } from '../../lib/defaults.ts';
import { readContent } from './content.ts';
import { checkDigests } from './digests.ts';
import { HttpError } from './http-error.ts';
import type { HttpRequest } from './request.ts';

/** The JSON of a request; undefined where it has no body. It can be written as JSON again, exactly. */
export async function jsonBody(request: HttpRequest): Promise<unknown> {
  const body = request.body();
  if (body.length === 0) {
    // None was sent, or all of it was lost.
    checkDigests(request, body);
    return undefined;
  }
  const { format, value } = await readContent(request, jsonMaxDepth);
  if (format !== 'json')
    throw new HttpError('unsupported_media_type', 'this resource takes application/json');
  assertFinite(value);
  return value;
}

/** `JSON.parse` makes infinity of `1e400`, and `JSON.stringify` makes `null` of that. */
export function assertFinite(root: unknown): void {
  const pending: [name: string, value: unknown][] = [['', root]];
  for (let place = pending.pop(); place !== undefined; place = pending.pop()) {
    const [name, value] = place;
    if (typeof value === 'number' && !Number.isFinite(value)) {
      throw new HttpError('invalid_json', `the body holds a number that is out of range, at '${name}'`);
    }
    // Of most values nothing can be wrong: they are not even looked at again.
    if (typeof value !== 'object' || value === null) continue;
    for (const child of Object.entries(value)) if (mayBeInfinite(child[1])) pending.push(child);
  }
}

function mayBeInfinite(value: unknown): boolean {
  return typeof value === 'object' ? value !== null : value === Infinity || value === -Infinity;
}

/** An object that has no fields but these: a misspelled one is refused, not dropped. */
export function objectOf(value: unknown, fields: readonly string[]): Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new HttpError('invalid_request', 'the body must be a JSON object');
  }
  const unknown = Object.keys(value).find((name) => !fields.includes(name));
  if (unknown !== undefined) {
    throw new HttpError('invalid_request', `there is no field '${unknown}', only ${fields.join(', ')}`);
  }
  return value as Readonly<Record<string, unknown>>;
}
