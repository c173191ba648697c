import { beforeEach, describe, expect } from 'vitest';
import { randomBytesOf, sha256 } from '../support/random-bytes.ts';
import { httpCase } from './case.ts';
import { deployment } from './deployment.ts';

/** More where time allows: a race that is lost once in a hundred is lost. */
const raceRounds = Number(process.env.DORMOUSE_RACE_ROUNDS ?? 2);

describe('conditional requests', () => {
  const { agent, call, put, get } = deployment();
  const at = (key: string) => `/v1/agents/${agent}/instances/${key}`;
  const json = { 'content-type': 'application/json' };
  let keys = 0;
  let key = '';
  let etag = '';

  beforeEach(async () => {
    key = `conditional-${++keys}`;
    etag = (await put(key, '"first"')).headers.etag as string;
  });

  const unchanged = async () => {
    const read = await get(key);
    expect(read.body.toString()).toBe('"first"');
    expect(read.headers.etag).toBe(etag);
  };

  httpCase(
    'a PUT that does not meet its condition is 412 with the current ETag, and changes nothing',
    async () => {
      for (const header of [
        { 'if-none-match': '*' },
        { 'if-none-match': '  * ' },
        { 'if-none-match': etag },
        { 'if-none-match': `W/${etag}` },
        { 'if-match': '"zzz"' },
        { 'if-match': `W/${etag}` },
        { 'if-match': etag, 'if-none-match': etag },
      ]) {
        const refused = await put(key, '"second"', { ...json, ...header } as Record<string, string>);
        expect([refused.status, header]).toEqual([412, header]);
        expect(refused.headers.etag).toBe(etag);
        expect(refused.headers['content-type']).toBe('application/problem+json');
        expect(refused.json()).toMatchObject({ status: 412, code: 'conflict' });
      }
      await unchanged();
    },
  );

  httpCase('a condition that cannot be read is 400 and never a write', async () => {
    for (const header of [
      { 'if-match': '' },
      { 'if-match': '""' },
      { 'if-match': etag.replaceAll('"', '') },
      { 'if-match': `${etag} "other"` },
      { 'if-none-match': '' },
      { 'if-none-match': 'none' },
      { 'if-match': Array.from({ length: 51 }, (_, index) => `"${index}"`).join(',') },
    ]) {
      const refused = await put(key, '"second"', { ...json, ...header } as Record<string, string>);
      expect([refused.status, header]).toEqual([400, header]);
    }
    await unchanged();
  });

  httpCase('a PUT that meets its condition is done', async () => {
    for (const [index, header] of [
      () => ({ 'if-match': etag }),
      () => ({ 'if-match': '*' }),
      () => ({ 'if-match': `"zzz", ${etag}` }),
      () => ({ 'if-match': ` "zzz" ,${etag},"a,b" ` }),
      () => ({ 'if-match': ` , "zzz", , ${etag},` }),
      () => ({ 'if-none-match': '"zzz"' }),
    ].entries()) {
      const saved = await put(key, String(index), { ...json, ...header() } as Record<string, string>);
      expect(saved.status).toBe(200);
      expect(saved.headers.etag).not.toBe(etag);
      etag = saved.headers.etag as string;
    }
  });

  httpCase('If-Match on nothing is 412, not a creation', async () => {
    for (const condition of ['*', '"e1"']) {
      const refused = await put('nothing-there', '1', { ...json, 'if-match': condition });
      expect(refused.status).toBe(412);
      expect(refused.headers.etag).toBeUndefined();
    }
    expect((await get('nothing-there')).status).toBe(404);
  });

  httpCase('GET and HEAD with the current ETag in If-None-Match are 304 without a body', async () => {
    for (const method of ['GET', 'HEAD']) {
      for (const tag of [etag, `W/${etag}`, `"x", ${etag}`, '*']) {
        const answer = await call(method, at(key), { headers: { 'if-none-match': tag } });
        expect([answer.status, answer.body.length, answer.headers.etag]).toEqual([304, 0, etag]);
      }
    }
    expect((await get(key, { 'if-none-match': '"x"' })).status).toBe(200);
    expect((await get(key, { 'if-match': '"x"' })).status).toBe(412);
    expect((await get(key, { 'if-match': etag })).status).toBe(200);
  });

  httpCase('DELETE honours If-Match', async () => {
    const stale = await call('DELETE', at(key), { headers: { 'if-match': '"old"' } });
    expect(stale.status).toBe(412);
    expect(stale.headers.etag).toBe(etag);
    await unchanged();
    expect((await call('DELETE', at(key), { headers: { 'if-match': etag } })).status).toBe(204);
    expect((await call('DELETE', at(key), { headers: { 'if-match': etag } })).status).toBe(412);
  });

  describe('dates', () => {
    const early = 'Mon, 01 Jan 2024 00:00:00 GMT';
    const later = 'Fri, 01 Jan 2100 00:00:00 GMT';
    /** The date of the state as an HTTP-date tells it, and the second before. */
    const dates = async () => {
      const modified = (await get(key)).headers['last-modified'] as string;
      return { modified, before: new Date(Date.parse(modified) - 1000).toUTCString() };
    };

    httpCase(
      'PUT and DELETE are 412 with the ETag for a state that is newer than If-Unmodified-Since',
      async () => {
        const { before } = await dates();
        for (const date of [early, before, 'Monday, 01-Jan-24 00:00:00 GMT', 'Mon Jan  1 00:00:00 2024']) {
          const headers = { ...json, 'if-unmodified-since': date };
          for (const refused of [await put(key, '2', headers), await call('DELETE', at(key), { headers })]) {
            expect([refused.status, refused.headers.etag, date]).toEqual([412, etag, date]);
            expect(refused.json()).toMatchObject({ code: 'conflict' });
          }
        }
        await unchanged();
      },
    );

    httpCase('they are done where it is not newer, its own second included', async () => {
      for (const date of [(await dates()).modified, later, 'Friday, 01-Jan-49 00:00:00 GMT']) {
        const headers = { ...json, 'if-unmodified-since': date };
        expect([(await put(key, '2', headers)).status, date]).toEqual([200, date]);
      }
      const headers = { 'if-unmodified-since': later };
      expect((await call('DELETE', at(key), { headers })).status).toBe(204);
    });

    httpCase('what is not there has no date: PUT creates it, DELETE leaves it absent', async () => {
      const headers = { ...json, 'if-unmodified-since': early };
      expect((await call('DELETE', at(`new-${key}`), { headers })).status).toBe(204);
      expect((await put(`new-${key}`, '1', headers)).status).toBe(201);
    });

    httpCase(
      'with ETags the date of the same kind does not count; If-None-Match still does beside it',
      async () => {
        const refusing = { ...json, 'if-unmodified-since': later, 'if-none-match': '*' };
        expect((await put(key, '2', refusing)).status).toBe(412);
        const headers = { 'if-none-match': '"other"', 'if-modified-since': later };
        expect((await get(key, headers)).status).toBe(200);
        const matching = { ...json, 'if-match': etag, 'if-unmodified-since': early };
        expect((await put(key, '2', matching)).status).toBe(200);
      },
    );

    httpCase(
      'GET and HEAD are 304 since its second and later, 200 before, 412 where it must be older',
      async () => {
        const { modified, before } = await dates();
        for (const method of ['GET', 'HEAD']) {
          const read = (headers: Record<string, string>) => call(method, at(key), { headers });
          for (const date of [modified, later]) {
            const answer = await read({ 'if-modified-since': date });
            expect([answer.status, answer.body.length, answer.headers.etag]).toEqual([304, 0, etag]);
          }
          expect((await read({ 'if-modified-since': before })).status).toBe(200);
          expect((await read({ 'if-unmodified-since': before })).status).toBe(412);
          expect((await read({ 'if-unmodified-since': modified })).status).toBe(200);
        }
        expect((await call('DELETE', at(key), { headers: { 'if-modified-since': later } })).status).toBe(204);
      },
    );

    httpCase('what is no HTTP-date is ignored, as RFC 9110 wants it', async () => {
      for (const date of ['yesterday', '2024-01-01T00:00:00Z', '0', `${early},${early}`, '']) {
        expect([(await get(key, { 'if-unmodified-since': date })).status, date]).toEqual([200, date]);
        expect([(await get(key, { 'if-modified-since': date })).status, date]).toEqual([200, date]);
        const headers = { ...json, 'if-unmodified-since': date };
        expect([(await put(key, '2', headers)).status, date]).toEqual([200, date]);
      }
    });
  });

  httpCase('a Range is not honoured: the whole state is sent, whatever If-Range says', async () => {
    for (const more of [{}, { 'if-range': etag }, { 'if-range': '"other"' }]) {
      const whole = await get(key, { range: 'bytes=0-2', ...more });
      expect([whole.status, whole.body.toString()]).toEqual([200, '"first"']);
    }
  });

  httpCase('a PUT, POST or DELETE that a header gives another meaning is 400 and does nothing', async () => {
    for (const header of [
      { 'content-range': 'bytes 5-9/10' },
      { 'content-range': 'bytes */10' },
      { 'content-range': '' },
      { 'content-range': 'items 1-2/3' },
      { 'x-http-method-override': 'PURGE' },
      { 'x-method-override': 'PATCH' },
      { 'x-http-method': 'MERGE' },
      { if: '(<urn:uuid:150852e2-3847-42d5-8cbe-0f4f296f26cf>)' },
    ]) {
      const headers = { ...json, ...header } as Record<string, string>;
      for (const refused of [
        await put(key, '"second"', headers),
        await call('DELETE', at(key), { headers }),
        await call('POST', `/v1/agents/${agent}/sessions/s/messages`, { headers, body: '[]' }),
      ]) {
        expect([refused.status, header]).toEqual([400, header]);
        expect(refused.json()).toMatchObject({ code: 'invalid_request' });
      }
    }
    await unchanged();
  });

  httpCase('a condition on a write of what has no ETags is 400 and does nothing', async () => {
    const session = `/v1/agents/${agent}/sessions/${key}`;
    const value = `${session}/users/ann/color`;
    const known = `/v1/agents/${agent}/knowledge/${key}`;
    await call('PUT', session, { headers: json, body: '{"meta":{"n":1}}' });
    for (const path of [value, known]) await call('PUT', path, { headers: json, body: '"blue"' });

    const message = '{"content":"hi","sender":{"id":"ann"}}';
    for (const condition of [
      { 'if-none-match': '*' },
      { 'if-match': '"other"' },
      { 'if-match': '' },
      { 'if-unmodified-since': 'Mon, 01 Jan 2024 00:00:00 GMT' },
    ]) {
      const headers = { ...json, ...condition } as Record<string, string>;
      for (const refused of [
        await call('PUT', session, { headers, body: '{"meta":{"n":2}}' }),
        await call('DELETE', session, { headers }),
        await call('POST', `${session}/messages`, { headers, body: message }),
        await call('POST', `${session}/capsules`, { headers, body: '{"messageIds":["m"],"summary":"s"}' }),
        await call('DELETE', `${session}/messages?from=0&to=1`, { headers }),
        await call('POST', `/v1/agents/${agent}/runs`, { headers, body: '{"action":"a"}' }),
        ...(await Promise.all([value, known].map((path) => call('PUT', path, { headers, body: '"red"' })))),
        ...(await Promise.all([value, known].map((path) => call('DELETE', path, { headers })))),
      ]) {
        expect([refused.status, condition]).toEqual([400, condition]);
        expect(refused.json()).toMatchObject({
          code: 'invalid_request',
          detail: expect.stringMatching(/^If-/),
        });
      }
    }
    expect((await call('GET', session, { headers: { 'if-none-match': '*' } })).json()).toMatchObject({
      meta: { n: 1 },
    });
    expect((await call('GET', `${session}/messages`)).json()).toEqual({ items: [] });
    for (const path of [value, known]) expect((await call('GET', path)).json()).toBe('blue');
  });

  httpCase('a DELETE with a body is 400, and does nothing', async () => {
    const session = `/v1/agents/${agent}/sessions/${key}`;
    await call('PUT', session, { headers: json, body: '{}' });
    await call('PUT', `${session}/users/ann/color`, { headers: json, body: '"blue"' });

    for (const [path, body] of [
      [session, '{"memory":"forget"}'],
      [`${session}/users/ann/color`, '{"key":"other"}'],
      [`${session}/messages?from=0&to=1`, '{"capsules":"forget"}'],
      [at(key), '{}'],
    ] as const) {
      const headers = { ...json, 'content-length': String(body.length) };
      const refused = await call('DELETE', path, { headers, body });
      expect([refused.status, path]).toEqual([400, path]);
      expect(refused.json()).toMatchObject({ code: 'invalid_request' });
    }
    expect((await call('GET', `${session}/users/ann/color`)).json()).toBe('blue');
    await unchanged();
  });

  httpCase('headers that say no more than the request does are as good as absent', async () => {
    const headers = {
      ...json,
      'x-http-method-override': 'put',
      'content-location': '/elsewhere',
      prefer: 'x',
    };
    expect((await put(key, '"second"', headers)).status).toBe(200);
    for (const encodings of ['gzip, gzip', 'identity, gzip', 'br', 'gzip;q=1']) {
      const refused = await put(key, '"third"', { ...json, 'content-encoding': encodings });
      expect([refused.status, encodings]).toEqual([415, encodings]);
    }
    expect((await get(key)).body.toString()).toBe('"second"');
  });

  httpCase('an ETag of before a delete is not accepted after it', async () => {
    await call('DELETE', at(key));
    expect((await put(key, '"late"', { ...json, 'if-match': etag })).status).toBe(412);
    const again = await put(key, '"first"');
    expect(again.status).toBe(201);
    expect(again.headers.etag).not.toBe(etag);
  });

  httpCase('of two first writers one is 201 and one is 412', async () => {
    const create = { ...json, 'if-none-match': '*' };
    const answers = await Promise.all([put(`new-${key}`, '1', create), put(`new-${key}`, '2', create)]);
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 412]);
  });

  httpCase(
    'of 25 writers with one ETag, half of them large, exactly one wins, and its state is what is read',
    async () => {
      for (let round = 0; round < raceRounds; round++) {
        const race = `${key}-race-${round}`;
        const octets = { 'content-type': 'application/octet-stream' };
        const first = await put(race, 'first', octets);
        const bodies = Array.from({ length: 25 }, (_, writer) =>
          writer % 2 === 0
            ? Buffer.from(JSON.stringify({ writer }))
            : randomBytesOf(450_000, `${race} ${writer}`),
        );

        const condition = { ...octets, 'if-match': first.headers.etag as string };
        const answers = await Promise.all(bodies.map((body) => put(race, body, condition)));

        const statuses = answers.map(({ status }) => status);
        expect(statuses.filter((status) => status === 200)).toHaveLength(1);
        expect(statuses.filter((status) => status === 412)).toHaveLength(24);
        const winner = statuses.indexOf(200);
        const read = await get(race);
        expect(sha256(read.body)).toBe(sha256(bodies[winner] as Buffer));
        expect(read.headers.etag).toBe(answers[winner]?.headers.etag);
      }
    },
    raceRounds * 30_000,
  );

  httpCase(
    'readers beside two writers see one whole state or the other, with its own ETag',
    async () => {
      const states = { A: randomBytesOf(500_000, 'A'), C: Buffer.from(JSON.stringify('c'.repeat(500_000))) };
      const hashes = { A: sha256(states.A), C: sha256(states.C) };
      const octets = { 'content-type': 'application/octet-stream' };
      const written = new Map<string | undefined, string>();
      const reads: { etag: string | undefined; hash: string }[] = [];
      let writing = true;

      const writer = async (name: 'A' | 'C') => {
        for (let round = 0; round < Math.min(raceRounds, 20); round++) {
          const saved = await put('torn', states[name], octets);
          expect(saved.status).toBeLessThan(300);
          written.set(saved.headers.etag, hashes[name]);
        }
      };
      const reader = async () => {
        while (writing) {
          const read = await get('torn');
          if (read.status === 200) reads.push({ etag: read.headers.etag, hash: sha256(read.body) });
          else expect([404, 503]).toContain(read.status);
        }
      };
      const readers = Promise.all([reader(), reader(), reader(), reader()]);
      await Promise.all([writer('A'), writer('C')]);
      writing = false;
      await readers;

      expect(reads.length).toBeGreaterThan(0);
      for (const { etag: tag, hash } of reads) expect(hash).toBe(written.get(tag));
    },
    60_000,
  );
});
