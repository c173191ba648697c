import { request as httpRequest, type IncomingMessage, type OutgoingHttpHeaders } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { LookupFunction } from 'node:net';

export interface Posted {
  readonly headers: OutgoingHttpHeaders;
  readonly body: string;
  readonly signal: AbortSignal;
  readonly lookup: LookupFunction;
  /** What is read of the answer at the most. */
  readonly answerMaxBytes: number;
}

export interface Answer {
  readonly status: number;
  readonly contentType: string;
  /** Whether the body is in a coding, such as gzip. */
  readonly isEncoded: boolean;
  /** Undefined where it is longer than is read. */
  readonly body: Buffer | undefined;
}

/**
 * Sends one request, and resolves its answer whatever its status: no redirect is followed, nothing is sent again. Rejects
 * where there is no whole answer. On a connection of its own, since one that is used again may have been opened for
 * anything.
 */
export function post(url: URL, { body, answerMaxBytes, ...options }: Posted): Promise<Answer> {
  const request = url.protocol === 'https:' ? httpsRequest : httpRequest;
  return new Promise((resolve, reject) => {
    const sent = request(url, { ...options, method: 'POST', agent: false });
    sent.on('error', reject);
    sent.on('response', (response) => {
      answerOf(response, answerMaxBytes).then(resolve, reject);
    });
    sent.end(body);
  });
}

async function answerOf(response: IncomingMessage, maxBytes: number): Promise<Answer> {
  const { statusCode = 0, headers } = response;
  const { 'content-type': contentType = '', 'content-encoding': encoding = 'identity' } = headers;
  const described = { status: statusCode, contentType, isEncoded: encoding.toLowerCase() !== 'identity' };
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of response) {
    bytes += chunk.length;
    // Leaving the loop ends the connection.
    if (bytes > maxBytes) return { ...described, body: undefined };
    chunks.push(chunk);
  }
  return { ...described, body: Buffer.concat(chunks) };
}
