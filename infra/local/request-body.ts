import type { IncomingMessage } from 'node:http';
import { TooLargeError } from '../../lib/errors.ts';

/** An HTTP API takes no larger request, whatever is behind it. */
const requestMaxBytes = 10 * 1024 * 1024;

/**
 * The body of a request.
 *
 * @throws TooLargeError as soon as the limit is passed, or a larger length announced; the rest is then dropped as it comes
 */
export function readBody(request: IncomingMessage): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const announced = Number(request.headers['content-length'] ?? 0);
    const chunks: Buffer[] = [];
    let size = 0;
    const refuse = () => {
      request.removeAllListeners('data').resume();
      reject(new TooLargeError(announced || undefined, requestMaxBytes));
    };
    request.on('error', reject);
    if (announced > requestMaxBytes) {
      refuse();
      return;
    }
    request.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size > requestMaxBytes) refuse();
      else chunks.push(chunk);
    });
    request.on('end', () => resolve(Buffer.concat(chunks)));
  });
}
