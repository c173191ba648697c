import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { contentTypeMaxChars, sentMaxValues } from '../../lib/defaults.ts';
import { InvalidStateError, TooLargeError } from '../../lib/errors.ts';
import { decodeSentRich, richContentType } from '../../lib/persistence/codec.ts';
import type { DumpFormat } from '../../lib/persistence/snapshot-store.ts';
import { checkDigests } from './digests.ts';
import { HttpError } from './http-error.ts';
import { jsonFault } from './json-fault.ts';
import { assertJsonWithin } from './json-size.ts';
import { inflatedMaxBytes, sentMaxDepth } from './limits.ts';
import { isEncoded, isJson, isMediaType, mediaType } from './media-type.ts';
import type { HttpRequest } from './request.ts';

const inflate = promisify(gunzip);

export interface Content {
  readonly contentType: string;
  readonly data: Uint8Array;
  readonly format: DumpFormat;
  /** The value where the format has one (`json`, `rich`); checked, so that what is stored can be read back. */
  readonly value: unknown;
  /** The sender compressed it, so it can read a compressed answer. */
  readonly compressed: boolean;
}

/**
 * The content of a request: base64 undone, inflated within bounds, and checked where it says it is JSON. A few bytes can
 * stand for more than a function holds: that is refused before anything is made of them.
 *
 * @param maxDepth levels of JSON: more where it is kept as it was sent than where it has to be written again
 */
export async function readContent(request: HttpRequest, maxDepth: number = sentMaxDepth): Promise<Content> {
  const contentType = contentTypeOf(request);
  const body = request.body();
  checkDigests(request, body);
  const compressed = isGzip(request);
  const data = compressed
    ? await inflateBody(Buffer.from(body.buffer, body.byteOffset, body.byteLength), contentType)
    : body;
  const sent = { contentType, data, compressed };
  if (isJson(contentType)) return { ...sent, format: 'json', value: parseJson(data, maxDepth) };
  if (mediaType(contentType) === richContentType) return { ...sent, format: 'rich', value: parseRich(data) };
  return { ...sent, format: 'bytes', value: undefined };
}

function contentTypeOf({ headers }: HttpRequest): string {
  const contentType = headers['content-type']?.trim() || 'application/octet-stream';
  if (contentType.length > contentTypeMaxChars) {
    throw new HttpError('invalid_request', `Content-Type is longer than ${contentTypeMaxChars} characters`);
  }
  if (!isMediaType(contentType)) {
    throw new HttpError(
      'invalid_request',
      'Content-Type must be one media type, such as application/json, sent once',
    );
  }
  return contentType;
}

function isGzip({ headers }: HttpRequest): boolean {
  const encoding = headers['content-encoding'];
  if (!isEncoded(encoding)) return false;
  if (/^\s*(?:x-)?gzip\s*$/i.test(encoding ?? '')) return true;
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

function parseJson(data: Uint8Array, maxDepth: number): unknown {
  assertJsonWithin(data, { maxDepth, maxValues: sentMaxValues });
  let text: string;
  try {
    text = utf8.decode(data);
  } catch (error) {
    throw new HttpError('invalid_json', 'the body is not UTF-8', { cause: error });
  }
  try {
    return JSON.parse(text);
  } catch {
    // The parser's own message quotes the text; only the place may go into an answer or a log.
    throw new HttpError('invalid_json', `the body is not JSON: ${jsonFault(text)}`);
  }
}

/** In devalue's text values name each other by number: they do not lie in one another. */
const richDepth = 2;

/** What a library wrote and a caller copies, sent back as it was received, is the same state again. */
function parseRich(data: Uint8Array): unknown {
  try {
    assertJsonWithin(data, { maxDepth: richDepth, maxValues: sentMaxValues });
    return decodeSentRich(data);
  } catch (error) {
    if (error instanceof HttpError && error.code === 'too_large') throw error;
    const why = error instanceof InvalidStateError ? error.message : 'it is malformed';
    throw new HttpError('invalid_json', `the body is not ${richContentType} that can be taken: ${why}`, {
      cause: error,
    });
  }
}
