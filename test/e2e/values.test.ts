import { beforeEach, describe, expect } from 'vitest';
import { randomBytesOf } from '../support/random-bytes.ts';
import { httpCase } from './case.ts';
import { deployment } from './deployment.ts';

interface Page {
  items: { key: string; value: unknown }[];
  cursor?: string;
}

const json = { 'content-type': 'application/json' };

describe('user data and knowledge over HTTP', () => {
  const { agent: own, call } = deployment();
  let count = 0;
  let agent = '';
  const users = (identity = 'ann', session = 's1') =>
    `/v1/agents/${agent}/sessions/${session}/users/${encodeURIComponent(identity)}`;
  const knowledge = () => `/v1/agents/${agent}/knowledge`;
  /** Both kinds, which are alike. */
  const places = () => [users(), knowledge()];
  const at = (place: string, key: string) => `${place}/${encodeURIComponent(key)}`;
  const put = (path: string, value: unknown) =>
    call('PUT', path, { body: JSON.stringify(value), headers: json });
  const get = async (path: string) => {
    const { status, json: body } = await call('GET', path);
    return [status, body()];
  };

  beforeEach(async () => {
    agent = `${own}-${++count}`;
    for (const session of ['s1', 's10']) await call('PUT', `/v1/agents/${agent}/sessions/${session}`);
  });

  httpCase('any JSON is kept under a key, replaced, and forgotten', async () => {
    for (const place of places()) {
      const path = at(place, 'ä 🔑');
      for (const value of [{ text: 'é', n: [1.5, null, { deep: [] }] }, [], 'text', 0, false, null]) {
        const answer = await put(path, value);
        expect([answer.status, answer.body.length]).toEqual([204, 0]);
        expect(await get(path)).toEqual([200, value]);
      }
      expect((await call('GET', path)).headers['content-type']).toBe('application/json');

      for (let again = 0; again < 2; again++) expect((await call('DELETE', path)).status).toBe(204);
      expect(await get(path)).toMatchObject([404, { code: 'not_found' }]);
      expect(await get(place)).toEqual([200, { items: [] }]);
    }
  });

  httpCase('values are listed by key, in pages that add up, of this place only', async () => {
    const keys = ['b', 'B', 'a', 'a b', 'ä', '__proto__', ...Array.from({ length: 14 }, (_, n) => `k${n}`)];
    for (const place of places()) {
      await Promise.all(keys.map((key) => put(at(place, key), { of: key })));
      const expected = [...keys].sort().map((key) => ({ key, value: { of: key } }));

      for (const limit of [1000, 7, 20]) {
        const items: Page['items'] = [];
        let cursor: string | undefined = '';
        while (cursor !== undefined) {
          const query: string = `?limit=${limit}${cursor && `&cursor=${cursor}`}`;
          const page = (await call('GET', place + query)).json() as Page;
          expect(page.items.length).toBeLessThanOrEqual(limit);
          items.push(...page.items);
          cursor = page.cursor;
        }
        expect(items).toEqual(expected);
      }
    }
    for (const other of [users('an'), users('ann', 's10')])
      expect(await get(other)).toEqual([200, { items: [] }]);
    const { cursor } = (await call('GET', `${users()}?limit=1`)).json() as Page;
    for (const other of [users('an'), knowledge()])
      expect(await get(`${other}?cursor=${cursor}`)).toMatchObject([400, { code: 'invalid_cursor' }]);
    expect((await call('GET', `${knowledge()}?limit=0`)).status).toBe(400);
  });

  httpCase('user data needs its session, and goes with its memory; knowledge stays', async () => {
    for (const place of places()) await put(at(place, 'color'), 'blue');
    const session = `/v1/agents/${agent}/sessions/s1`;

    expect((await call('DELETE', `${session}?memory=forget`)).status).toBe(204);

    const path = at(users(), 'color');
    for (const [method, target] of [
      ['GET', users()],
      ['GET', path],
      ['PUT', path],
      ['DELETE', path],
    ] as const) {
      const answer = await call(method, target, { ...(method === 'PUT' && { body: '1' }), headers: json });
      expect([method, answer.status, answer.json()]).toMatchObject([
        ...[method, 404],
        { code: 'session_not_found' },
      ]);
    }
    await call('PUT', session);
    expect(await get(users())).toEqual([200, { items: [] }]);
    expect(await get(at(knowledge(), 'color'))).toEqual([200, 'blue']);
    const document = (await call('GET', `${session}/export`)).json();
    expect(document).toMatchObject({ users: {}, knowledge: { color: 'blue' } });
  });

  httpCase('of ten that set a value at once one stays, whole', async () => {
    for (const place of places()) {
      const path = at(place, 'mood');
      const values = Array.from({ length: 10 }, (_, n) => ({ n, text: String(n).repeat(1000) }));
      const answers = await Promise.all(values.map((value) => put(path, value)));
      expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([204]));
      expect(values).toContainEqual((await get(path))[1]);
    }
  });

  httpCase('what is no value, and what no path can carry, is refused', async () => {
    const large = randomBytesOf(400_000, 'value').toString('base64');
    for (const place of places()) {
      const path = at(place, 'k');
      const refused: [string | undefined, number, string][] = [
        [undefined, 400, 'invalid_request'],
        ['{', 400, 'invalid_json'],
        ['1e400', 400, 'invalid_json'],
        [JSON.stringify(large), 413, 'too_large'],
      ];
      for (const [body, status, code] of refused) {
        const answer = await call('PUT', path, { ...(body !== undefined && { body }), headers: json });
        expect([answer.status, answer.json()]).toMatchObject([status, { code }]);
      }
      const text = await call('PUT', path, { body: 'x', headers: { 'content-type': 'text/plain' } });
      expect(text.status).toBe(415);
      for (const method of ['GET', 'PUT', 'DELETE']) {
        for (const key of ['a%b', 'a?b', 'a#b', 'a\\b', 'a\u007fb', 'x'.repeat(513)]) {
          const body = method === 'PUT' && { body: '1' };
          const answer = await call(method, at(place, key), { ...body, headers: json });
          expect([answer.status, key, answer.json()]).toMatchObject([400, key, { code: 'invalid_key' }]);
        }
      }
      expect((await call('GET', `${path}?x=1`)).status).toBe(400);
      const other = await call('POST', path, { body: '1', headers: json });
      expect([other.status, other.headers.allow]).toEqual([405, 'GET, PUT, DELETE']);
      expect(await get(path)).toMatchObject([404, { code: 'not_found' }]);
    }
    expect((await call('GET', users('a%b'))).status).toBe(400);
  });
});
