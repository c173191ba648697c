import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import type { DynamoDb } from '../../infra/local/dynalite-requests.ts';

/** Opens an embedded DynamoDB to what is not in its process, or wants to stand between it and its client. */
export async function overHttp(requests: DynamoDb): Promise<{ endpoint: string; server: Server }> {
  const server = createServer(async (request, response) => {
    const { statusCode, body } = await requests(String(request.headers['x-amz-target']), await text(request));
    response.writeHead(statusCode, { 'content-type': 'application/x-amz-json-1.0' }).end(body);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, server };
}
