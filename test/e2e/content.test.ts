import { createHash } from 'node:crypto';
import { brotliCompressSync, gunzipSync, gzipSync } from 'node:zlib';
import { describe, expect } from 'vitest';
import { randomBytesOf, sha256 } from '../support/random-bytes.ts';
import { httpCase } from './case.ts';
import { deployment } from './deployment.ts';

describe('bodies, encodings and limits', () => {
  const { agent, call, put, get } = deployment();
  const json = { 'content-type': 'application/json' };
  const gzipped = { ...json, 'content-encoding': 'gzip' };
  const gzippedBytes = { 'content-type': 'image/x', 'content-encoding': 'gzip' };

  httpCase('a body that is not JSON is 400, names the place and quotes nothing', async () => {
    for (const body of [
      '',
      '{',
      '{"secret":1,}',
      'secret',
      '\ufeff{}',
      Buffer.from('7b22c3282275', 'hex'),
      '[1][2]',
      'NaN',
    ]) {
      const refused = await put('refused', body);
      expect([refused.status, body]).toEqual([400, body]);
      expect(refused.json()).toMatchObject({ code: 'invalid_json', status: 400 });
      expect(refused.body.toString()).not.toContain('secret');
    }
    expect((await get('refused')).status).toBe(404);
  });

  httpCase('a body that is not the one its digest is of is 400, and nothing is stored', async () => {
    const [body, other] = [gzipSync('{"a":1}'), Buffer.from('{"a":1}')];
    const of = (algorithm: string, bytes: Buffer) => createHash(algorithm).update(bytes).digest('base64');
    const sha256Of = (bytes: Buffer) => `sha-256=:${of('sha256', bytes)}:`;
    const sha512Of = (bytes: Buffer) => `sha-512=:${of('sha512', bytes)}:`;

    for (const header of [
      { 'content-md5': of('md5', other) },
      { 'content-digest': sha256Of(other) },
      { 'repr-digest': sha512Of(other) },
      { 'content-digest': `${sha256Of(body)}, ${sha512Of(other)}` },
      { 'content-digest': 'sha-256=AAAA' },
      { 'content-digest': '' },
      { 'content-md5': '' },
    ]) {
      const refused = await put('digest', body, { ...gzippedBytes, ...header } as Record<string, string>);
      expect([refused.status, header]).toEqual([400, header]);
      expect(refused.json()).toMatchObject({ code: 'invalid_request' });
    }
    expect((await get('digest')).status).toBe(404);

    for (const header of [
      { 'content-md5': of('md5', body) },
      { 'content-digest': `unixsum=:AAAA:, ${sha512Of(body)}`, 'repr-digest': sha256Of(body) },
    ]) {
      const { status } = await put('digest', body, { ...gzippedBytes, ...header } as Record<string, string>);
      expect([status, header]).not.toContain(400);
    }
    expect((await get('digest')).body.toString()).toBe('{"a":1}');

    const lost = { headers: { ...json, 'content-digest': sha256Of(Buffer.from('{"meta":{}}')) } };
    expect((await call('PUT', `/v1/agents/${agent}/sessions/digest`, lost)).status).toBe(400);
  });

  httpCase('a Content-Type that names no media type, or several, is 400, and nothing is stored', async () => {
    for (const type of [
      'application/json, application/json',
      'application/json,text/plain',
      'application/json; charset=utf-8, text/plain',
      'application/json charset=utf-8',
      'json',
      '/json',
      'application/',
      'text/plain/x',
      '; charset=utf-8',
    ]) {
      const refused = await put('typed', '{a}', { 'content-type': type });
      expect([refused.status, type]).toEqual([400, type]);
      expect(refused.json()).toMatchObject({ code: 'invalid_request' });
    }
    expect((await get('typed')).status).toBe(404);
  });

  httpCase('any media type is kept as it was sent, whatever its parameters', async () => {
    for (const type of [
      'application/vnd.a+json;v="1,2";q',
      'multipart/form-data; boundary=----=_Part:1 2',
      'TEXT/X-!#$%&.^`|~',
    ]) {
      expect([(await put('typed', '{a}', { 'content-type': type })).status, type]).not.toContain(400);
      const read = await get('typed');
      expect([read.headers['content-type'], read.body.toString()]).toEqual([type, '{a}']);
    }
  });

  httpCase('a gzip body of JSON is kept as what it holds', async () => {
    expect((await put('gz', gzipSync('{"a":1}'), gzipped)).status).toBe(201);
    expect((await get('gz')).body.toString()).toBe('{"a":1}');
  });

  httpCase('a gzip body of bytes is kept as what it holds', async () => {
    const headers = { ...gzippedBytes, 'content-encoding': 'GZIP' };
    expect((await put('gz-bytes', gzipSync('bytes'), headers)).status).toBe(201);
    expect((await get('gz-bytes')).body.toString()).toBe('bytes');
  });

  httpCase('JSON that a gateway inflated already is taken as it is', async () => {
    expect((await put('inflated', '{"a":1}', gzipped)).status).toBe(201);
    expect((await get('inflated')).body.toString()).toBe('{"a":1}');
  });

  httpCase('gzip that is none, is cut short or holds no JSON is 400', async () => {
    const whole = gzipSync(JSON.stringify('x'.repeat(5_000)));
    const bodies: [Buffer | string, Record<string, string>][] = [
      ['neither', gzipped],
      ['bytes', gzippedBytes],
      [whole.subarray(0, whole.length - 9), gzipped],
      [Buffer.concat([whole.subarray(0, 30), Buffer.from('garbage')]), gzipped],
      [gzipSync('no json'), gzipped],
      ['', gzipped],
    ];
    for (const [body, headers] of bodies) expect((await put('bad-gz', body, headers)).status).toBe(400);
    expect((await get('bad-gz')).status).toBe(404);
  });

  httpCase('another content encoding is 415', async () => {
    for (const encoding of ['br', 'deflate', 'gzip, gzip', 'zstd', 'nonsense']) {
      const refused = await put('br', brotliCompressSync('{"a":1}'), {
        ...json,
        'content-encoding': encoding,
      });
      expect(refused.status).toBe(415);
      expect(refused.json()).toMatchObject({ code: 'unsupported_encoding' });
    }
  });

  httpCase('a gzip bomb is 413 with the limit', async () => {
    const bomb = gzipSync(Buffer.alloc(128 * 1024 * 1024));
    const refused = await put('bomb', bomb, gzippedBytes);
    expect(refused.status).toBe(413);
    expect(refused.json()).toMatchObject({ code: 'too_large', limit: expect.any(Number) });
    expect((await get('bomb')).status).toBe(404);
  });

  httpCase('a client that takes gzip gets it, and one that does not does not', async () => {
    const state = JSON.stringify({ text: 'sleep '.repeat(5_000) });
    const saved = await put('accept', state);
    for (const accept of ['gzip', 'gzip, br', 'br;q=1, gzip;q=0.5', '*']) {
      const read = await get('accept', { 'accept-encoding': accept });
      expect([read.headers['content-encoding'], accept]).toEqual(['gzip', accept]);
      expect(gunzipSync(read.body).toString()).toBe(state);
      expect(read.headers).toMatchObject({ etag: saved.headers.etag, vary: 'accept-encoding' });
      expect(read.headers['content-type']).toBe('application/json');
    }
    for (const accept of ['identity', 'gzip;q=0', 'br', '']) {
      const read = await get('accept', { 'accept-encoding': accept });
      expect([read.headers['content-encoding'], accept]).toEqual([undefined, accept]);
      expect(read.body.toString()).toBe(state);
    }
    const update = await put('accept', '1', { ...json, 'if-match': saved.headers.etag as string });
    expect(update.status).toBe(200);
  });

  httpCase(
    'what is accepted can be read, and what is too large is 413 with the limit and changes nothing',
    async () => {
      await put('limit', '"before"');
      const octets = { 'content-type': 'application/octet-stream' };
      const cases: [string, Buffer | string, Record<string, string>][] = [
        ['4 MB of bytes', randomBytesOf(4_000_000, 'l'), octets],
        ['4.7 MB of bytes', randomBytesOf(4_700_000, 'l'), octets],
        ['4.8 MB of bytes', randomBytesOf(4_800_000, 'l'), octets],
        ['5.9 MB of JSON', JSON.stringify('j'.repeat(5_899_998)), json],
        ['6.3 MB of JSON', JSON.stringify('j'.repeat(6_299_998)), json],
        ['JSON full of quotes', JSON.stringify(Array.from({ length: 1_160_000 }, () => '')), json],
      ];
      // A gateway may set limits of its own to the others.
      const mustFit = '4 MB of bytes';
      let stored = Buffer.from('"before"');
      for (const [name, body, headers] of cases) {
        const answer = await put('limit', body, headers);
        if (answer.status === 413 && name !== mustFit) {
          if (answer.headers['content-type'] === 'application/problem+json') {
            expect(answer.json()).toMatchObject({ code: 'too_large', limit: expect.any(Number) });
          }
        } else {
          expect([answer.status, name]).toEqual([200, name]);
          stored = Buffer.from(body);
        }
        expect([sha256((await get('limit')).body), name]).toEqual([sha256(stored), name]);
      }
      expect((await put('limit', randomBytesOf(4_800_000, 'l'), octets)).status).toBe(413);
    },
    60_000,
  );

  httpCase(
    'more than 6 MB fits where both sides speak gzip',
    async () => {
      const state = JSON.stringify('compressible '.repeat(1_000_000));
      expect((await put('large-gz', gzipSync(state), gzippedBytes)).status).toBe(201);
      const read = await get('large-gz', { 'accept-encoding': 'gzip' });
      expect(read.status).toBe(200);
      expect(sha256(gunzipSync(read.body))).toBe(sha256(Buffer.from(state)));
      const plain = await get('large-gz');
      expect(plain.status).toBe(413);
      expect(plain.json()).toMatchObject({ code: 'too_large' });
    },
    60_000,
  );

  httpCase('a time to live that is no whole number of seconds in range is 400', async () => {
    for (const ttl of [
      '0',
      '-1',
      '1.5',
      '%2260%22',
      '1e15',
      '9999999999',
      '',
      '60s',
      '1&ttl=2',
      '%2B1',
      '0x10',
    ]) {
      const path = `/v1/agents/${agent}/instances/ttl?ttl=${ttl}`;
      expect([(await call('PUT', path, { body: '1', headers: json })).status, ttl]).toEqual([400, ttl]);
    }
    expect((await get('ttl')).status).toBe(404);
  });

  httpCase('a content type that is too long is 400', async () => {
    expect((await put('long-type', 'x', { 'content-type': `text/${'x'.repeat(300)}` })).status).toBe(400);
  });
});
