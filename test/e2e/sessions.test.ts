import { describe, expect } from 'vitest';
import { httpCase } from './case.ts';
import { deployment } from './deployment.ts';

interface Page<Item> {
  items: Item[];
  cursor?: string;
}

const isoTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
const json = { 'content-type': 'application/json' };

describe('sessions over HTTP', () => {
  const { agent, call } = deployment();
  const at = (session: string, of = agent) => `/v1/agents/${of}/sessions/${encodeURIComponent(session)}`;
  const register = (session: string, body = '{}', of = agent) =>
    call('PUT', at(session, of), { body, headers: json });

  httpCase('a session is registered once, keeps when, and takes new meta', async () => {
    const first = await register('chat-7', '{"meta":{"channel":"web","state":1,"name":"x","ttl":2}}');
    expect(first.status).toBe(201);
    const session = first.json() as { registeredAt: string };
    expect(session).toEqual({
      id: 'chat-7',
      meta: { channel: 'web', state: 1, name: 'x', ttl: 2 },
      registeredAt: expect.stringMatching(isoTime),
      lastActiveAt: expect.stringMatching(isoTime),
    });

    const again = await register('chat-7', '{"meta":{"channel":"phone"}}');
    expect(again.status).toBe(200);
    expect(again.json()).toMatchObject({ meta: { channel: 'phone' }, registeredAt: session.registeredAt });
    expect((await call('GET', at('chat-7'))).json()).toMatchObject({
      id: 'chat-7',
      meta: { channel: 'phone' },
    });

    expect((await call('PUT', at('bare'))).status).toBe(201);
    expect((await call('GET', at('bare'))).json()).toMatchObject({ meta: {} });
  });

  httpCase('of ten that register a session at once one creates it', async () => {
    const answers = await Promise.all(Array.from({ length: 10 }, () => register('race')));
    expect(answers.map(({ status }) => status).sort()).toEqual([...Array(9).fill(200), 201]);
  });

  httpCase('what is not a session is refused', async () => {
    for (const body of [
      '[]',
      '1',
      '{"meta":1}',
      '{"meta":[]}',
      '{"meta":null}',
      '{"channel":"web"}',
      '{',
      '"x"',
    ]) {
      expect([(await register('refused', body)).status, body]).toEqual([400, body]);
    }
    expect(
      (await call('PUT', at('refused'), { body: 'x', headers: { 'content-type': 'text/plain' } })).status,
    ).toBe(415);
    for (const method of ['PUT', 'GET', 'DELETE']) {
      for (const id of ['a%b', 'a?b', 'a#b', 'a\\b', 'a\u007fb', 'x'.repeat(513)]) {
        expect([(await call(method, at(id))).status, id]).toEqual([400, id]);
      }
    }
    const missing = await call('GET', at('refused'));
    expect(missing.status).toBe(404);
    expect(missing.json()).toMatchObject({ code: 'session_not_found' });
    expect((await call('GET', `${at('refused')}?x`)).status).toBe(400);
    expect((await call('DELETE', `${at('refused')}?memory=yes`)).status).toBe(400);
  });

  httpCase('sessions are listed once each, in pages that add up, and none of a neighbour', async () => {
    const of = `${agent}-list`;
    const ids = [
      's1',
      's10',
      'S1',
      's1 ',
      'ä🔑',
      ...Array.from({ length: 20 }, (_, index) => `item-${index}`),
    ];
    for (const id of ids) await register(id, '{}', of);
    await register('other', '{}', `${of}2`);

    for (const [limit, sizes] of [
      [10, [10, 10, 5]],
      [5, [5, 5, 5, 5, 5]],
      [1000, [25]],
    ] as const) {
      const pages: string[][] = [];
      let cursor: string | undefined = '';
      while (cursor !== undefined) {
        const query: string = `?limit=${limit}${cursor && `&cursor=${cursor}`}`;
        const page = (await call('GET', `/v1/agents/${of}/sessions${query}`)).json() as Page<{ id: string }>;
        pages.push(page.items.map(({ id }) => id));
        cursor = page.cursor;
      }
      expect(pages.map((page) => page.length)).toEqual(sizes);
      expect(pages.flat().sort()).toEqual([...ids].sort());
    }
    expect((await call('GET', `/v1/agents/${of}/sessions?limit=0`)).status).toBe(400);
    const { cursor } = (await call('GET', `/v1/agents/${of}/sessions?limit=5`)).json() as Page<unknown>;
    expect((await call('GET', `/v1/agents/${of}2/sessions?cursor=${cursor}`)).status).toBe(400);
  });

  httpCase('a deregistered session is gone, its neighbours are not, and doing it again is fine', async () => {
    for (const id of ['d1', 'd10']) await register(id);

    expect((await call('DELETE', at('d1'))).status).toBe(204);
    expect((await call('DELETE', at('d1'))).status).toBe(204);

    expect((await call('GET', at('d1'))).status).toBe(404);
    expect((await call('GET', at('d10'))).status).toBe(200);
  });

  httpCase('an agent without errors has an empty error log', async () => {
    expect((await call('GET', `/v1/agents/${agent}/errors`)).json()).toEqual({ items: [] });
    expect((await call('GET', `/v1/agents/${agent}/errors?limit=1001`)).status).toBe(400);
    expect((await call('GET', `/v1/agents/${agent}/errors?cursor=nonsense`)).status).toBe(400);
  });
});
