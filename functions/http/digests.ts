import { hash } from 'node:crypto';
import { HttpError } from './http-error.ts';
import type { HttpRequest } from './request.ts';

/** Algorithms of RFC 9530 that are in use; of others nothing can be said. */
const algorithms: ReadonlyMap<string, string> = new Map([
  ['sha-256', 'sha256'],
  ['sha-512', 'sha512'],
]);

/**
 * Refuses a body that is not the one its sender took a digest of: `Content-Digest`, `Repr-Digest` (RFC 9530), of which a
 * whole body is both, and `Content-MD5` before them. They are of the bytes as they were sent, before they are inflated.
 *
 * @throws HttpError also where a header cannot be read
 */
export function checkDigests({ headers }: HttpRequest, body: Uint8Array): void {
  const { 'content-md5': md5 } = headers;
  if (md5 !== undefined) assertIs('Content-MD5', hash('md5', body, 'base64'), md5.trim());
  for (const name of ['Content-Digest', 'Repr-Digest']) {
    for (const [algorithm, digest] of digestsIn(name, headers[name.toLowerCase()])) {
      const known = algorithms.get(algorithm);
      if (known !== undefined) assertIs(name, hash(known, body, 'base64'), digest);
    }
  }
}

function digestsIn(name: string, header: string | undefined): [algorithm: string, digest: string][] {
  if (header === undefined) return [];
  return header.split(',').map((member) => {
    const [, algorithm, digest] = /^\s*([a-z*][a-z0-9_.*-]*)=:([A-Za-z0-9+/]*={0,2}):\s*$/.exec(member) ?? [];
    if (algorithm === undefined || digest === undefined)
      throw new HttpError('invalid_request', `${name} must be digests such as sha-256=:base64:`);
    return [algorithm, digest];
  });
}

function assertIs(name: string, digest: string, sent: string): void {
  if (digest === sent) return;
  throw new HttpError(
    'invalid_request',
    `the body is not the one that ${name} is of: it was altered on its way, or the digest is of another form of it`,
  );
}
