import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

/** A signing secret of 24 bytes. */
export const signingSecret = `whsec_${Buffer.alloc(24, 7).toString('base64')}`;

interface Received {
  readonly headers: Record<string, string>;
  readonly body: string;
}

export interface WebhookReceiver {
  readonly port: number;
  readonly url: string;
  readonly received: readonly Received[];
}

/** A server on the loopback address that keeps what it is sent, until the test is over. */
export async function webhookReceiver(
  answer: (response: ServerResponse, request: IncomingMessage) => void,
): Promise<WebhookReceiver> {
  const received: Received[] = [];
  const server = createServer(async (request, response) => {
    const body = (await request.setEncoding('utf8').toArray()).join('');
    received.push({ headers: request.headers as Record<string, string>, body });
    answer(response, request);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { port, url: `http://127.0.0.1:${port}/hook`, received };
}
