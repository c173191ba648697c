import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { contentTypeMaxChars } from '../../lib/defaults.ts';
import { TooLargeError } from '../../lib/persistence/persistence-error.ts';
import { HttpError } from './http-error.ts';
import { inflatedMaxBytes } from './limits.ts';
import { isJson } from './media-type.ts';
import type { HttpRequest } from './request.ts';

const inflate = promisify(gunzip);

export interface Content {
  readonly contentType: string;
  readonly data: Uint8Array;
  /** The value where the content is `application/json`; checked, so that what is stored can be read back. */
  readonly json: { readonly value: unknown } | undefined;
  /** The sender compressed it, so it can read a compressed answer. */
  readonly compressed: boolean;
}

/** The content of a request: base64 undone, inflated within bounds, and checked where it says it is JSON. */
export async function readContent(request: HttpRequest): Promise<Content> {
  const contentType = contentTypeOf(request);
  const body = request.body();
  const compressed = isGzip(request);
  const data = compressed
    ? await inflateBody(Buffer.from(body.buffer, body.byteOffset, body.byteLength), contentType)
    : body;
  return {
    contentType,
    data,
    json: isJson(contentType) ? { value: parseJson(data) } : undefined,
    compressed,
  };
}

function contentTypeOf({ headers }: HttpRequest): string {
  const contentType = headers['content-type']?.trim() || 'application/octet-stream';
  if (contentType.length > contentTypeMaxChars) {
    throw new HttpError('invalid_request', `Content-Type is longer than ${contentTypeMaxChars} characters`);
  }
  return contentType;
}

function isGzip({ headers }: HttpRequest): boolean {
  const encoding = headers['content-encoding']?.trim().toLowerCase() ?? '';
  if (encoding === '' || encoding === 'identity') return false;
  if (encoding === 'gzip' || encoding === 'x-gzip') return true;
  throw new HttpError('unsupported_encoding', 'Content-Encoding must be gzip or absent', {
    headers: { 'accept-encoding': 'gzip' },
  });
}

/** How gzip begins where a gateway took it for text: its second byte is not UTF-8, and was replaced. */
const damagedGzip = Buffer.from('\u001f\ufffd');

/** A gateway may have inflated the body and left the header: JSON that is there already is taken as it is. */
async function inflateBody(body: Buffer, contentType: string): Promise<Uint8Array> {
  const isCompressed = body[0] === 0x1f && body[1] === 0x8b;
  if (!isCompressed) {
    if (body.subarray(0, damagedGzip.length).equals(damagedGzip)) {
      throw new HttpError(
        'invalid_request',
        'the gzip bytes were altered on their way, as text: send them under a content type that is not text or JSON',
      );
    }
    if (isJson(contentType) && body.length > 0) return body;
    throw new HttpError('invalid_request', 'Content-Encoding says gzip but the body is not');
  }
  try {
    return await inflate(body, { maxOutputLength: inflatedMaxBytes });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') {
      throw new TooLargeError(undefined, inflatedMaxBytes);
    }
    throw new HttpError('invalid_request', 'the gzip body cannot be inflated', { cause: error });
  }
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

function parseJson(data: Uint8Array): unknown {
  let text: string;
  try {
    text = utf8.decode(data);
  } catch (error) {
    throw new HttpError('invalid_json', 'the body is not UTF-8', { cause: error });
  }
  try {
    return JSON.parse(text);
  } catch (error) {
    // The parser's own message quotes the text; only the place may go into an answer or a log.
    const place = /position \d+/.exec((error as Error).message)?.[0] ?? 'its end';
    throw new HttpError('invalid_json', `the body is not JSON: unexpected text at ${place}`);
  }
}
