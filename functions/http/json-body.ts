import { readContent } from './content.ts';
import { HttpError } from './http-error.ts';
import type { HttpRequest } from './request.ts';

/** The JSON of a request; undefined where it has no body. */
export async function jsonBody(request: HttpRequest): Promise<unknown> {
  if (request.body().length === 0) return undefined;
  const { format, value } = await readContent(request);
  if (format !== 'json')
    throw new HttpError('unsupported_media_type', 'this resource takes application/json');
  assertExact(value);
  return value;
}

/** Refuses what this service could not write as JSON again: it would be stored as something else, or not be readable. */
function assertExact(value: unknown): void {
  try {
    JSON.stringify(value, refuseInfinite);
  } catch (error) {
    if (error instanceof RangeError) throw new HttpError('invalid_json', 'the body is nested too deep');
    throw error;
  }
}

/** `JSON.parse` makes infinity of `1e400`, and `JSON.stringify` makes `null` of that. */
function refuseInfinite(name: string, value: unknown): unknown {
  if (typeof value === 'number' && !Number.isFinite(value))
    throw new HttpError('invalid_json', `the body holds a number that is out of range, at '${name}'`);
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
