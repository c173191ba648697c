import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** What every question is answered with. */
export const notes = 'Ann waits for a parcel.';

export interface Model {
  readonly url: string;
  /** The `Authorization` header of each request so far. */
  readonly authorizations: readonly (string | undefined)[];
}

/** A model on the loopback address that speaks the protocol of chat completions, until the process ends. */
export async function startModel(): Promise<Model> {
  const authorizations: (string | undefined)[] = [];
  const answer = JSON.stringify({ choices: [{ message: { role: 'assistant', content: notes } }] });
  const server = createServer((request, response) => {
    authorizations.push(request.headers.authorization);
    const isQuestion = request.method === 'POST' && request.url === '/v1/chat/completions';
    request.resume().once('end', () => response.writeHead(isQuestion ? 200 : 404).end(answer));
  });
  server.unref();
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(0, '127.0.0.1', resolve);
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`, authorizations };
}
