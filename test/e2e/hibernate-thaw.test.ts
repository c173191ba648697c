import { gzipSync } from 'node:zlib';
import { describe, expect } from 'vitest';
import { randomBytesOf, sha256 } from '../support/random-bytes.ts';
import { httpCase } from './case.ts';
import { deployment } from './deployment.ts';

const isoTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

describe('hibernate and thaw over HTTP', () => {
  const { agent, call, put, get } = deployment();
  const at = (key: string) => `/v1/agents/${agent}/instances/${key}`;

  httpCase('a state is created, replaced, read, and forgotten', async () => {
    const created = await put('user-123', '{"mood":"calm"}');
    expect(created.status).toBe(201);
    expect(created.headers['content-type']).toBe('application/json');
    const etag = created.headers.etag as string;
    expect(etag).toMatch(/^"[^"]+"$/);
    expect(created.json()).toEqual({
      ...{ agent, key: 'user-123', version: 1, bytes: 15, storedBytes: 15 },
      updatedAt: expect.stringMatching(isoTime),
    });

    const read = await get('user-123');
    expect(read.status).toBe(200);
    expect(read.body.toString()).toBe('{"mood":"calm"}');
    expect(read.headers).toMatchObject({
      etag,
      'content-type': 'application/json',
      'x-dormouse-version': '1',
    });
    expect(new Date(read.headers['last-modified'] ?? '').getTime()).not.toBeNaN();

    const replaced = await put('user-123', '{"mood":"awake"}');
    expect(replaced.status).toBe(200);
    expect(replaced.json()).toMatchObject({ version: 2 });
    expect(replaced.headers.etag).not.toBe(etag);

    expect((await call('DELETE', at('user-123'))).status).toBe(204);
    expect((await call('DELETE', at('user-123'))).status).toBe(204);
    const gone = await get('user-123');
    expect(gone.status).toBe(404);
    expect(gone.json()).toMatchObject({ code: 'not_found' });
  });

  httpCase('HEAD answers as GET does, without the body', async () => {
    await put('head', randomBytesOf(1_000_000, 'head'), { 'content-type': 'image/png' });
    const full = await get('head');
    const head = await call('HEAD', at('head'));

    expect(head.status).toBe(200);
    expect(head.body).toHaveLength(0);
    for (const name of ['etag', 'content-type', 'last-modified', 'x-dormouse-version']) {
      expect([name, head.headers[name]]).toEqual([name, expect.any(String)]);
      expect(head.headers[name]).toBe(full.headers[name]);
    }
    expect((await call('HEAD', at('nobody'))).status).toBe(404);
  });

  httpCase("HEAD says the body's length", async () => {
    await put('head-length', randomBytesOf(70_000, 'head'), { 'content-type': 'image/png' });

    expect((await call('HEAD', at('head-length'))).headers['content-length']).toBe('70000');
  });

  httpCase('numbers, empty values, escapes and white space are kept as they were sent', async () => {
    const bodies = [
      '{"a":9007199254740993,"b":1.00000000000000000000015,"c":1e400,"d":-0,"e":1.23e+40}',
      '{"s":"","l":[],"m":{},"n":null,"f":false,"z":0,"k":{"":1}}',
      ...['""', '0', 'false', 'null', '[]', '{}', ' { "a" : 1 }\r\n\t'],
      '{"a":1,"a":2,"__proto__":{"x":1},"state":1,"name":2,"ttl":3,"\\u0061\\ud800":"\\u2028 é🔑"}',
      '{"type":"Buffer","data":[1,2]}',
    ];
    for (const [index, body] of bodies.entries()) {
      expect((await put(`exact-${index}`, body)).status).toBe(201);
      expect((await get(`exact-${index}`)).body.toString()).toBe(body);
    }
  });

  httpCase('deep nesting is kept', async () => {
    for (const depth of [31, 32, 33, 200, 5_000]) {
      for (const body of [
        `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`,
        `${'['.repeat(depth)}${']'.repeat(depth)}`,
      ]) {
        expect((await put('deep', body)).status).toBeLessThan(300);
        expect((await get('deep')).body.toString()).toBe(body);
      }
    }
  });

  httpCase('bytes come back as they were, whatever they look like', async () => {
    const allBytes = Buffer.from(Array.from({ length: 70_000 }, (_, index) => index % 256));
    const bodies = [
      allBytes,
      gzipSync('looks compressed'),
      Buffer.from('ffd8ffe0', 'hex'),
      Buffer.from('plain text'),
    ];
    for (const [index, body] of bodies.entries()) {
      const headers = { 'content-type': 'application/octet-stream' };
      expect((await put(`bytes-${index}`, body, headers)).status).toBe(201);
      const read = await get(`bytes-${index}`);
      expect(read.headers['content-type']).toBe('application/octet-stream');
      expect(sha256(read.body)).toBe(sha256(body));
    }
  });

  httpCase('an empty body is a state of 0 bytes', async () => {
    expect((await put('empty', '', { 'content-type': 'application/octet-stream' })).status).toBe(201);
    const read = await get('empty');
    expect(read.status).toBe(200);
    expect(read.body).toHaveLength(0);
  });

  httpCase('the same JSON is kept under any content type, and the type with it', async () => {
    const body = '{"greeting":"é🔑"}';
    const types = [
      'application/json',
      'application/json; charset=utf-8',
      'application/problem+json',
      'application/x-www-form-urlencoded',
      'text/plain',
      'text/plain; charset=utf-8',
    ];
    for (const [index, type] of types.entries()) {
      expect((await put(`type-${index}`, body, { 'content-type': type })).status).toBe(201);
      const read = await get(`type-${index}`);
      expect(read.headers['content-type']).toBe(type);
      expect(read.body.toString()).toBe(body);
    }
  });

  httpCase('a body without a content type is bytes', async () => {
    expect((await put('untyped', '{"a":1}', {})).status).toBe(201);
    const read = await get('untyped');
    expect(read.headers['content-type']).toBe('application/octet-stream');
    expect(read.body.toString()).toBe('{"a":1}');
  });

  for (const size of [380_000, 409_600, 409_601, 1_048_576, 3_000_000]) {
    httpCase(`${size} random bytes survive, as bytes and inside JSON`, async () => {
      const data = randomBytesOf(size, `size ${size}`);
      expect((await put(`size-${size}`, data, { 'content-type': 'application/octet-stream' })).status).toBe(
        201,
      );
      expect(sha256((await get(`size-${size}`)).body)).toBe(sha256(data));

      const json = JSON.stringify({ img: data.toString('base64') });
      expect((await put(`size-${size}`, json)).status).toBe(200);
      expect(sha256((await get(`size-${size}`)).body)).toBe(sha256(Buffer.from(json)));
    });
  }

  httpCase('a small state over a large one leaves no tail of it, and the other way round', async () => {
    for (const [size, seed] of [
      [900_000, 'A'],
      [50_000, 'B'],
      [900_000, 'C'],
    ] as const) {
      const data = randomBytesOf(size, seed);
      await put('shrinking', data, { 'content-type': 'application/octet-stream' });
      expect(sha256((await get('shrinking')).body)).toBe(sha256(data));
    }
  });

  httpCase('a large state is forgotten whole', async () => {
    const data = randomBytesOf(900_000, 'forgotten');
    const headers = { 'content-type': 'application/octet-stream' };
    await put('large-forgotten', data, headers);

    expect((await call('DELETE', at('large-forgotten'))).status).toBe(204);
    expect((await get('large-forgotten')).status).toBe(404);
    expect((await put('large-forgotten', data, headers)).json()).toMatchObject({ version: 1 });
  });

  httpCase('an instance that was just written is found, every time', async () => {
    for (let round = 0; round < 50; round++) {
      await put(`at-once-${round}`, String(round));
      expect((await get(`at-once-${round}`)).body.toString()).toBe(String(round));
    }
  });

  httpCase('a state with a time to live says when it expires, and then is gone', async () => {
    const saved = await call('PUT', `${at('short')}?ttl=1`, {
      body: '1',
      headers: { 'content-type': 'application/json' },
    });
    expect(saved.status).toBe(201);
    expect(saved.json()).toMatchObject({ expiresAt: expect.stringMatching(isoTime) });

    await expect.poll(async () => (await get('short')).status, { timeout: 5_000, interval: 100 }).toBe(404);
    expect((await call('HEAD', at('short'))).status).toBe(404);
    expect((await call('GET', `/v1/agents/${agent}/instances?prefix=short`)).json()).toEqual({ items: [] });
    const create = { 'content-type': 'application/json', 'if-none-match': '*' };
    expect((await put('short', '2', create)).status).toBe(201);
  });
});
