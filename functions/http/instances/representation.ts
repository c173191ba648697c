import Negotiator from 'negotiator';
import { TooLargeError } from '../../../lib/errors.ts';
import { unpackState, verifyDump } from '../../../lib/persistence/pack.ts';
import type { Dump } from '../../../lib/persistence/snapshot-store.ts';
import { HttpError } from '../http-error.ts';
import { bodyMaxBytes } from '../limits.ts';
import { isJson, mediaType } from '../media-type.ts';
import type { HttpRequest } from '../request.ts';

/** A snapshot's bytes in the form in which an answer carries them. */
export interface Representation {
  readonly body: string | Uint8Array;
  readonly headers: Readonly<Record<string, string>>;
}

export function acceptsGzip({ headers }: HttpRequest): boolean {
  const header = headers['accept-encoding'];
  if (header === undefined) return false;
  return (
    new Negotiator({ headers: { 'accept-encoding': header } }).encodings(['gzip', 'identity'])[0] === 'gzip'
  );
}

/**
 * Refuses to send a state that JSON cannot carry to a client that takes JSON only: it would take the one for the other,
 * and store it as such. Without `Accept`, or with one that takes anything, the type of the answer tells.
 */
export function assertAcceptable(
  { headers: { accept } }: HttpRequest,
  { format, contentType }: Pick<Dump, 'format' | 'contentType'>,
): void {
  if (format !== 'rich' || accept === undefined || accept.trim() === '') return;
  if (new Negotiator({ headers: { accept } }).mediaTypes([mediaType(contentType)]).length > 0) return;
  throw new HttpError(
    'not_acceptable',
    `what is stored holds values that JSON cannot carry: accept ${mediaType(contentType)} too, or let the agent's dump leave them out`,
  );
}

/**
 * Stored gzip goes to a client that takes gzip as it is; anything else is unpacked.
 *
 * @throws TooLargeError where the answer would not fit into Lambda's 6 MB; gzip may still fit
 */
export async function represent(dump: Dump, gzip: boolean): Promise<Representation> {
  if (gzip && dump.encoding === 'gzip') {
    const { data } = verifyDump(dump);
    if (base64Bytes(data.length) > bodyMaxBytes) throw new TooLargeError(data.length, base64MaxBytes);
    return { body: data, headers: { 'content-encoding': 'gzip' } };
  }
  const body = fittingBody(await unpackState(dump), dump.contentType);
  if (body === undefined) throw new TooLargeError(dump.bytes, limitOf(dump));
  return { body, headers: {} };
}

/** Refuses a dump that no answer could carry: what cannot be read over HTTP must not be stored over HTTP. */
export async function assertReadable(dump: Dump, gzip: boolean): Promise<void> {
  if (base64Bytes(dump.bytes) <= bodyMaxBytes) return;
  if (gzip && dump.encoding === 'gzip' && base64Bytes(dump.data.length) <= bodyMaxBytes) return;
  const fits =
    isJson(dump.contentType) && fittingBody(await unpackState(dump), dump.contentType) !== undefined;
  if (!fits) throw new TooLargeError(dump.bytes, limitOf(dump));
}

const base64MaxBytes = Math.floor(bodyMaxBytes / 4) * 3;

function limitOf({ contentType }: Dump): number {
  return isJson(contentType) ? bodyMaxBytes : base64MaxBytes;
}

function base64Bytes(bytes: number): number {
  return Math.ceil(bytes / 3) * 4;
}

/** JSON travels as text, where escaping lets it fit; everything else, and JSON full of quotes, in base64. */
function fittingBody(data: Uint8Array, contentType: string): string | Uint8Array | undefined {
  if (isJson(contentType)) {
    const text = Buffer.from(data.buffer, data.byteOffset, data.byteLength).toString('utf8');
    if (data.length * 2 <= bodyMaxBytes || Buffer.byteLength(JSON.stringify(text)) <= bodyMaxBytes)
      return text;
  }
  return base64Bytes(data.length) <= bodyMaxBytes ? data : undefined;
}
