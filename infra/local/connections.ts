import { randomUUID } from 'node:crypto';
import { type IncomingMessage, maxHeaderSize, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { HttpError } from '../../functions/http/http-error.ts';
import { problemResponse } from '../../functions/http/problem.ts';
import { toResult } from '../../functions/http/response.ts';

export type Serve = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

/**
 * Has requests served one after another where a client sends several over a connection without waiting: only requests
 * that change nothing may be worked on side by side (RFC 9112, 9.3.2).
 */
export function inTurn(serve: Serve): Serve {
  const turns = new WeakMap<Socket, Promise<void>>();
  return (request, response) => {
    const serveIt = () => serve(request, response);
    const turn = (turns.get(request.socket) ?? Promise.resolve()).then(serveIt, serveIt);
    turns.set(request.socket, turn);
    return turn;
  };
}

/**
 * What node:http answers by itself, without a body, is a problem answer too: what is no HTTP, and headers or a request
 * that take too much or too long. An expectation that is not known changes nothing, and no header is left out.
 */
export function answerAsProblems(server: Server): void {
  // Their size is bounded. Those beyond a number would be ignored, whatever they ask for.
  server.maxHeadersCount = 0;
  server.on('checkExpectation', (request, response) => server.emit('request', request, response));
  server.on('clientError', (error: NodeJS.ErrnoException, socket: SocketOfServer) => {
    // An answer that has begun is not to be continued with another one.
    if (socket.writable && socket._httpMessage?.headersSent !== true) socket.write(refusalOf(error.code));
    socket.destroy();
  });
}

type SocketOfServer = Socket & { readonly _httpMessage?: ServerResponse | null };

const refusals: Readonly<Record<string, readonly [statusLine: string, detail: string]>> = {
  HPE_HEADER_OVERFLOW: [
    '431 Request Header Fields Too Large',
    `the headers take more than ${maxHeaderSize} bytes`,
  ],
  ERR_HTTP_REQUEST_TIMEOUT: ['408 Request Timeout', 'the request did not come to its end in time'],
};

/** A whole answer: on a connection whose request could not be read there is nothing else to send it with. */
function refusalOf(code = ''): string {
  const [statusLine, detail] = refusals[code] ?? ['400 Bad Request', 'this is no request of HTTP/1.1'];
  const requestId = randomUUID();
  const problem = problemResponse(new HttpError('invalid_request', detail), requestId);
  const status = Number.parseInt(statusLine, 10);
  const { headers = {} } = toResult(problem);
  const body = JSON.stringify({ ...JSON.parse(String(problem.body)), status });
  const fields = {
    ...headers,
    'apigw-requestid': requestId,
    'content-length': body.length,
    connection: 'close',
  };
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}`);
  return [`HTTP/1.1 ${statusLine}`, ...lines, '', body].join('\r\n');
}
