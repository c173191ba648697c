import type { IncomingMessage } from 'node:http';
import { hostname } from 'node:os';
import { HttpError } from '../../functions/http/http-error.ts';

/** Names that lead to this machine wherever they are resolved. Browsers do not let others define them. */
const loopbackNames = ['localhost', '127.0.0.1', '[::1]'];

const everyAddress = ['0.0.0.0', '[::]'];

export interface OwnAddress {
  /** What the server was told to listen on. */
  readonly host: string;
  readonly port: number;
}

/**
 * Refuses what comes for another server, or from a page of one: a browser lets any page send requests to this machine,
 * and a name that its owner points here makes them look like the page's own.
 *
 * @returns the request's target in origin form
 * @throws HttpError `forbidden`, or `invalid_request` for one of HTTP/1.1 that names no host
 */
export function ownTarget(request: IncomingMessage, own: OwnAddress): string {
  const { url = '/', rawHeaders, headers, httpVersion, socket } = request;
  const isOwn = (authority: string) => isOwnAuthority(authority, own, socket.localAddress);

  const hosts = rawHeaders.filter(
    (_value, index) => rawHeaders[index - 1]?.toLowerCase() === 'host' && index % 2 === 1,
  );
  if (hosts.length === 0 && httpVersion !== '1.0')
    throw new HttpError('invalid_request', 'a request of HTTP/1.1 has the header Host');
  if (hosts.length !== 1 || !isOwn(hosts[0] ?? ''))
    throw new HttpError('forbidden', 'the header Host does not name this server');

  const { origin, 'sec-fetch-site': site } = headers;
  if (origin !== undefined && !(origin.startsWith('http://') && isOwn(origin.slice('http://'.length))))
    throw new HttpError('forbidden', 'pages of other origins may not call this server');
  // Sent by browsers only, also where they send no Origin: with what a page embeds.
  if (site !== undefined && site !== 'same-origin' && site !== 'none')
    throw new HttpError('forbidden', 'pages of other sites may not call this server');

  const [, authority, rest = ''] = /^https?:\/\/([^/?#]*)(.*)$/i.exec(url) ?? [];
  if (authority === undefined) return url;
  if (!isOwn(authority)) throw new HttpError('forbidden', 'the target does not name this server');
  return rest.startsWith('/') ? rest : `/${rest}`;
}

function isOwnAuthority(authority: string, { host, port }: OwnAddress, localAddress = ''): boolean {
  const [, name, givenPort = '80'] = /^([^:/?#@[\]]+|\[[0-9a-f:.]+\])(?::(\d{1,5}))?$/i.exec(authority) ?? [];
  if (name === undefined || Number(givenPort) !== port) return false;
  return ownNames(host, localAddress).includes(name.toLowerCase());
}

/** Listening everywhere, the server has the name of the machine, and each of its addresses to those who came by it. */
function ownNames(host: string, localAddress: string): string[] {
  const given = bracketed(host.toLowerCase());
  if (!everyAddress.includes(given)) return [...loopbackNames, given];
  return [...loopbackNames, hostname().toLowerCase(), bracketed(localAddress.replace(/^::ffff:/, ''))];
}

function bracketed(host: string): string {
  return host.includes(':') && !host.startsWith('[') ? `[${host}]` : host;
}

/** Where somebody on this machine reaches the server. */
export function urlOf({ host, port }: OwnAddress): string {
  const name = bracketed(host);
  return `http://${everyAddress.includes(name) ? '127.0.0.1' : name}:${port}`;
}

export function isLoopback(host: string): boolean {
  return loopbackNames.includes(bracketed(host.toLowerCase())) || /^127\.\d+\.\d+\.\d+$/.test(host);
}
