import { readContent } from './content.ts';
import { HttpError } from './http-error.ts';
import type { HttpRequest } from './request.ts';

/** The JSON of a request; undefined where it has no body. */
export async function jsonBody(request: HttpRequest): Promise<unknown> {
  if (request.body().length === 0) return undefined;
  const { format, value } = await readContent(request);
  if (format !== 'json')
    throw new HttpError('unsupported_media_type', 'this resource takes application/json');
  return value;
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
