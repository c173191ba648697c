import { describe, expect, it } from 'vitest';
import { HttpError } from '../../../functions/http/http-error.ts';
import { toRequest } from '../../../functions/http/request.ts';
import { decodePath, type RawRequest, toEvent } from '../../../infra/local/event.ts';
import { matchRoute } from '../../../infra/local/handlers.ts';

function eventOf(parts: Partial<RawRequest> = {}) {
  const request: RawRequest = {
    method: 'PUT',
    target: '/v1/agents/planner/instances/k',
    rawHeaders: [],
    body: Buffer.alloc(0),
    sourceIp: '127.0.0.1',
    httpVersion: '1.1',
    ...parts,
  };
  const route = matchRoute(request.method, decodePath(request.target));
  return toEvent(request, route, 'request-1', new Date('2027-03-09T04:05:06.007Z'));
}

describe('the event of a request', () => {
  it('has everything of payload format 2.0', () => {
    const event = eventOf({
      target: '/v1/agents/planner/instances/org/user-1?ttl=60',
      rawHeaders: ['Host', 'localhost:3000', 'User-Agent', 'curl/8', 'Content-Type', 'application/json'],
      body: Buffer.from('{"a":1}'),
    });

    expect(event).toEqual({
      version: '2.0',
      routeKey: 'PUT /v1/agents/{agent}/instances/{key+}',
      rawPath: '/v1/agents/planner/instances/org/user-1',
      rawQueryString: 'ttl=60',
      headers: { host: 'localhost:3000', 'user-agent': 'curl/8', 'content-type': 'application/json' },
      queryStringParameters: { ttl: '60' },
      pathParameters: { agent: 'planner', key: 'org/user-1' },
      requestContext: {
        accountId: '000000000000',
        apiId: 'local',
        domainName: 'localhost:3000',
        domainPrefix: 'local',
        http: {
          method: 'PUT',
          path: '/v1/agents/planner/instances/org/user-1',
          protocol: 'HTTP/1.1',
          sourceIp: '127.0.0.1',
          userAgent: 'curl/8',
        },
        requestId: 'request-1',
        routeKey: 'PUT /v1/agents/{agent}/instances/{key+}',
        stage: '$default',
        time: '09/Mar/2027:04:05:06 +0000',
        timeEpoch: Date.parse('2027-03-09T04:05:06.007Z'),
      },
      body: '{"a":1}',
      isBase64Encoded: false,
    });
  });

  it('leaves out what the request does not have', () => {
    const event = eventOf({ method: 'GET', target: '/v1/agents' });

    for (const field of ['body', 'cookies', 'queryStringParameters', 'pathParameters']) {
      expect(event).not.toHaveProperty(field);
    }
    expect(event).toMatchObject({ rawQueryString: '', isBase64Encoded: false });
  });

  it.each([
    ['a method that the path does not have', 'PATCH', '/v1/agents/planner/instances/k'],
    ['an unknown path', 'GET', '/v2'],
    ['an instance without a key', 'PUT', '/v1/agents/planner/instances/'],
  ])('goes to $default for %s', (_case, method, target) => {
    const event = eventOf({ method, target });

    expect(event.routeKey).toBe('$default');
    expect(event.requestContext.routeKey).toBe('$default');
  });
});

describe('the body', () => {
  const json = '{"key":"é🔑"}';

  it.each([
    'application/json',
    'application/json; charset=utf-8',
    'Application/JSON',
    'application/xml',
    'application/javascript ;x=y',
    'text/plain',
    'text/markdown; charset=utf-8',
  ])('comes as text with %s', (contentType) => {
    const event = eventOf({ rawHeaders: ['content-type', contentType], body: Buffer.from(json) });

    expect(event).toMatchObject({ body: json, isBase64Encoded: false });
  });

  it.each([
    'application/problem+json',
    'application/vnd.x+json',
    'application/x-www-form-urlencoded',
    'application/jsonl',
    'application/octet-stream',
    'image/png',
    'texture/plain',
    undefined,
  ])('comes in base64 with %s', (contentType) => {
    const rawHeaders = contentType === undefined ? [] : ['content-type', contentType];
    const event = eventOf({ rawHeaders, body: Buffer.from(json) });

    expect(event).toMatchObject({ body: Buffer.from(json).toString('base64'), isBase64Encoded: true });
  });

  it.each([
    ['gzip', Buffer.from([0x1f, 0x8b, 0x08, 0x00])],
    ['Latin-1', Buffer.from([0x22, 0xe9, 0x22])],
    ['UTF-16', Buffer.from('{"a":"é"}', 'utf16le').subarray(0, 11)],
    ['text with a byte order mark', Buffer.from('\ufeff{}')],
    ['text with a NUL', Buffer.from('"\0"')],
  ])('reaches a handler byte for byte under a text type: %s', (_case, body) => {
    const event = eventOf({ rawHeaders: ['content-type', 'application/json'], body });

    expect(Buffer.from(toRequest(event).body())).toEqual(body);
  });
});

describe('the path', () => {
  const prefix = '/v1/agents/planner/instances/';

  it.each([
    ['a/b', 'a/b'],
    ['a%2Fb', 'a/b'],
    ['a%20b', 'a b'],
    ['a+b', 'a+b'],
    ['a%2Bb', 'a+b'],
    ['a%23b', 'a#b'],
    ['a%3Fb', 'a?b'],
    ['100%25', '100%'],
    ['a%252Fb', 'a%2Fb'],
    ['%C3%A4%F0%9F%94%91', 'ä🔑'],
    // UTF-8 that was sent without an escape, as node:http gives it.
    [Buffer.from('ä🔑').toString('latin1'), 'ä🔑'],
    ['..', '..'],
    ['a/../b', 'a/../b'],
    ['./a', './a'],
    ['a//b', 'a//b'],
    ['a/', 'a/'],
    ['/a', '/a'],
    ['%0A', '\n'],
  ])('is decoded once and not normalised: %s', (sent, key) => {
    const event = eventOf({ target: `${prefix}${sent}?x=1` });

    expect(event.rawPath).toBe(`${prefix}${key}`);
    expect(event.pathParameters).toEqual({ agent: 'planner', key });
  });

  it.each(['%', '%zz', '%e4', '%c3', '%ff%fe', '\xe4', '%ed%a0%80'])(
    'is refused where it is no UTF-8: %s',
    (sent) => {
      expect(() => decodePath(`${prefix}${sent}`)).toThrow(HttpError);
    },
  );
});

describe('query, headers and cookies', () => {
  it.each([
    ['repeated names', 'a=1&b=2&a=3', { a: '1,3', b: '2' }],
    ['escapes and plus signs', 'a%20b=c+d%2Be&%C3%A4=%F0%9F%94%91', { 'a b': 'c d+e', ä: '🔑' }],
    ['names without a value', 'a&b=', { a: '', b: '' }],
    ['a second question mark', 'a=b?c', { a: 'b?c' }],
    ['a question mark that begins a name', '?ttl=5', { '?ttl': '5' }],
    [
      'names that objects have',
      '__proto__=1&constructor=2',
      JSON.parse('{"__proto__":"1","constructor":"2"}'),
    ],
    ['malformed escapes', 'a=%zz', { a: '%zz' }],
  ])('decodes %s of a query', (_case, query, parameters) => {
    const event = eventOf({ method: 'GET', target: `/v1/agents?${query}` });

    expect(event.rawQueryString).toBe(query);
    expect(event.queryStringParameters).toEqual(parameters);
  });

  it('joins repeated headers with commas, under names in lower case', () => {
    const { headers } = eventOf({ rawHeaders: ['If-Match', '"a"', 'X-One', '1', 'if-match', '"b"'] });

    expect(headers).toEqual({ 'if-match': '"a","b"', 'x-one': '1' });
  });

  it('moves cookies out of the headers', () => {
    const event = eventOf({ rawHeaders: ['Cookie', 'a=1; b=2', 'cookie', 'c=x,y', 'host', 'h'] });

    expect(event.cookies).toEqual(['a=1', 'b=2', 'c=x,y']);
    expect(event.headers).toEqual({ host: 'h' });
  });
});
