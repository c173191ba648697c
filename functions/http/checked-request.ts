import { nearestName } from '../../lib/input.ts';
import { HttpError } from './http-error.ts';
import type { HttpRequest } from './request.ts';

/**
 * Refuses what a route would have to ignore, and what would change the meaning of the request if it were honoured: a
 * caller who misspells `ttl`, or sends a part of a state, must not be told that all is well.
 */
export function checkRequest(query: readonly string[], request: HttpRequest): void {
  checkQuery(query, request);
  checkHeaders(request);
  if (request.method === 'DELETE') checkNoBody('a DELETE', request.body());
}

/** What is to be done stands in the URL: who says it in a body would have something else done. */
export function checkNoBody(what: string, body: Uint8Array): void {
  if (body.length > 0)
    throw new HttpError('invalid_request', `${what} takes no body: send what it says in the URL`);
}

/** Refuses parameters that are not known, or sent twice, by name. */
export function checkQuery(
  known: readonly string[],
  { query, repeated }: Pick<HttpRequest, 'query' | 'repeated'>,
): void {
  for (const name of Object.keys(query)) {
    if (!known.includes(name) && !isSignature(name)) throw unknownParameter(name, known);
  }
  const twice = repeated.find((name) => known.includes(name));
  if (twice !== undefined) throw new HttpError('invalid_request', `${twice} is given twice: send it once`);
}

/** A presigned URL carries its signature in the query, and the gateway has judged it. */
function isSignature(name: string): boolean {
  return /^x-amz-/i.test(name);
}

function unknownParameter(name: string, known: readonly string[]): HttpError {
  const nearest = nearestName(name, known);
  const hint = nearest === undefined ? '' : `, did you mean '${nearest}'?`;
  const allowed = known.length === 0 ? 'none' : known.join(', ');
  const shown = name.length <= shownMaxChars ? name : `${name.slice(0, shownMaxChars)}…`;
  return new HttpError(
    'invalid_request',
    `there is no query parameter '${shown.toWellFormed()}' here${hint || ';'} this route takes ${allowed}`,
  );
}

const shownMaxChars = 64;

/** Headers by which other servers let a request mean another method. */
const methodOverrides = ['x-http-method-override', 'x-http-method', 'x-method-override'];

function checkHeaders({ method, headers }: HttpRequest): void {
  for (const name of methodOverrides) {
    const override = headers[name]?.trim();
    if (override !== undefined && override.toUpperCase() !== method)
      throw new HttpError(
        'invalid_request',
        `${name} names another method than ${method}: send the request with the method that you mean`,
      );
  }
  if (method === 'GET' || method === 'HEAD') return;
  // RFC 9110, 14.5: a part of a state must not be taken for the whole.
  if (headers['content-range'] !== undefined)
    throw new HttpError('invalid_request', 'Content-Range is not supported: a state is sent whole');
  const coding = headers['transfer-encoding']?.trim().toLowerCase() ?? 'chunked';
  if (coding !== 'chunked' && coding !== 'identity')
    throw new HttpError('invalid_request', 'Transfer-Encoding must be chunked or absent');
  // RFC 4918, 10.4: a condition on the locks of WebDAV, which there are none of here.
  if (headers.if !== undefined)
    throw new HttpError('invalid_request', 'If is not supported: send If-Match with an ETag');
}

const conditionsOfWrites = ['If-Match', 'If-None-Match', 'If-Unmodified-Since'];

/**
 * Of what has no ETags and no `Last-Modified`. Who sets a condition on a write must not be told that it held. A read
 * under one is answered as without it.
 */
export function checkNoConditions({ method, headers }: HttpRequest): void {
  if (method === 'GET') return;
  const condition = conditionsOfWrites.find((name) => headers[name.toLowerCase()] !== undefined);
  if (condition !== undefined)
    throw new HttpError('invalid_request', `${condition} is not supported here: only instances have ETags`);
}
