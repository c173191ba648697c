import { beforeEach, describe, expect } from 'vitest';
import { randomBytesOf } from '../support/random-bytes.ts';
import { httpCase } from './case.ts';
import { deployment } from './deployment.ts';

interface Message {
  id: string;
  content: unknown;
  timestamp: string;
}
interface Page {
  items: Message[];
  cursor?: string;
}

const json = { 'content-type': 'application/json' };
const sender = { id: 'ann', name: 'Ann' };
const T = '2027-03-01T12:00:00.000Z';

describe('messages over HTTP', () => {
  const { agent, call } = deployment();
  let sessions = 0;
  let session = '';
  const at = () => `/v1/agents/${agent}/sessions/${session}`;
  const remember = (messages: unknown) =>
    call('POST', `${at()}/messages`, { body: JSON.stringify(messages), headers: json });
  const page = async (query = '') => (await call('GET', `${at()}/messages${query}`)).json() as Page;
  const ids = async (query = '') => (await page(query)).items.map(({ id }) => id);
  const allIds = async (limit: number, order = 'asc') => {
    const found: string[][] = [];
    let cursor: string | undefined = '';
    while (cursor !== undefined) {
      const next: Page = await page(`?limit=${limit}&order=${order}${cursor && `&cursor=${cursor}`}`);
      found.push(next.items.map(({ id }) => id));
      cursor = next.cursor;
    }
    return found;
  };

  beforeEach(async () => {
    session = `chat-${++sessions}`;
    await call('PUT', at());
  });

  httpCase('a message is stored and comes back with all that was sent', async () => {
    const sent = {
      id: 'm1',
      content: { text: 'é🔑', n: [1, null] },
      sender,
      source: { id: 'mail-7' },
      metadata: { a: 1 },
    };
    const answer = await remember({ ...sent, timestamp: '2027-03-01T14:00:00+02:00' });
    expect(answer.status).toBe(201);
    expect(answer.json()).toEqual({ items: [{ ...sent, timestamp: T }] });
    expect((await page()).items).toEqual([{ ...sent, timestamp: T }]);
  });

  httpCase('order is by timestamp, then by arrival, over any page border and backwards', async () => {
    await remember(['z', 'a', 'm'].map((id) => ({ id, content: id, sender, timestamp: T })));
    await remember({ id: 'b', content: 'b', sender, timestamp: Date.parse(T) });
    await remember({ id: 'early', content: 1, sender, timestamp: 9 });
    await remember({ id: 'later', content: 1, sender, timestamp: 10 });

    const expected = ['early', 'later', 'z', 'a', 'm', 'b'];
    expect(await ids()).toEqual(expected);
    expect((await allIds(1)).flat()).toEqual(expected);
    expect(await allIds(3)).toEqual([expected.slice(0, 3), expected.slice(3)]);
    expect((await allIds(1, 'desc')).flat()).toEqual([...expected].reverse());
  });

  httpCase('a message that is sent again is the same message, in its place', async () => {
    const both = [
      { id: 'm1', content: 'one', sender },
      { id: 'm2', content: 'two', sender },
    ];
    const first = await remember(both);
    const again = await remember(both);
    expect(again.status).toBe(201);
    expect(again.json()).toEqual(first.json());

    await remember({ id: 'm3', content: 'three', sender });
    await remember({ id: 'm1', content: 'one', sender });
    await remember([
      { id: 'm4', content: 'four', sender },
      { id: 'm4', content: 'four', sender },
    ]);
    expect(await ids()).toEqual(['m1', 'm2', 'm3', 'm4']);

    const conflict = await remember({ id: 'm1', content: 'another', sender });
    expect(conflict.status).toBe(409);
    expect(conflict.json()).toMatchObject({ code: 'id_conflict' });
    expect((await page()).items[0]).toMatchObject({ id: 'm1', content: 'one' });
  });

  httpCase('what is not a message is 400, names the field, and stores nothing', async () => {
    const good = { id: 'good', content: 1, sender };
    const bad: [unknown, string][] = [
      [{ content: 1 }, 'sender'],
      [{ sender }, 'content'],
      [{ content: 1, sender: 'ann' }, 'sender'],
      [{ content: 1, sender: {} }, 'sender'],
      [{ content: 1, sender: { id: 'ann', email: 'ann@example.com' } }, 'email'],
      [{ content: 1, sender, timestamp: 'soon' }, 'timestamp'],
      [{ content: 1, sender, timestamp: '2027-03-01 12:00' }, 'timestamp'],
      [{ content: 1, sender, timestamp: null }, 'timestamp'],
      [{ content: 1, sender, id: '' }, 'id'],
      [{ content: 1, sender, id: 7 }, 'id'],
      [{ content: 1, sender, metadata: [] }, 'metadata'],
      [{ content: 1, sender, contents: 2 }, 'contents'],
    ];
    for (const [message, field] of bad) {
      for (const body of [message, [good, message]]) {
        const refused = await remember(body);
        expect([refused.status, body]).toEqual([400, body]);
        expect((refused.json() as { detail: string }).detail).toContain(field);
      }
    }
    for (const body of ['', '[]', '[1]', 'null', '{', JSON.stringify(Array(101).fill(good))]) {
      expect([
        (await call('POST', `${at()}/messages`, { body, headers: json })).status,
        body.slice(0, 20),
      ]).toEqual([400, body.slice(0, 20)]);
    }
    expect(await ids()).toEqual([]);
  });

  httpCase('a session that is not registered, or not any more, remembers nothing', async () => {
    await remember({ id: 'm1', content: 1, sender });
    await call('DELETE', `${at()}?memory=forget`);

    for (const answer of [
      await remember({ content: 1, sender }),
      await call('GET', `${at()}/messages`),
      await call('GET', `${at()}/export`),
    ]) {
      expect(answer.status).toBe(404);
      expect(answer.json()).toMatchObject({ code: 'session_not_found' });
    }
    expect((await call('GET', at())).status).toBe(404);
    await call('PUT', at());
    expect(await ids()).toEqual([]);
  });

  httpCase('messages are found by since, until and hours, both ends included', async () => {
    const minute = (n: number) => Date.parse(T) + n * 60_000;
    await remember([0, 1, 2, 3].map((n) => ({ id: `m${n}`, content: n, sender, timestamp: minute(n) })));
    await remember({ id: 'now', content: 'now', sender });

    expect(await ids(`?since=${minute(1)}&until=${minute(2)}`)).toEqual(['m1', 'm2']);
    // As a number this moment looks like epoch seconds, but it was not sent as one.
    expect((await ids('?since=1972-01-01T00:00:00Z')).length).toBeGreaterThan(0);
    expect(await ids('?until=1972-01-01T00:00:00Z')).toEqual([]);
    expect(await ids(`?until=2027-03-01T12:00:00Z`)).toContain('m0');
    expect(await ids('?hours=1')).toContain('now');
    for (const query of [
      'since=soon',
      'until=',
      'hours=0',
      'hours=-1',
      'hours=x',
      'order=up',
      'limit=0',
      `hours=1&since=${T}`,
      'cursor=x',
    ]) {
      expect([(await call('GET', `${at()}/messages?${query}`)).status, query]).toEqual([400, query]);
    }
    const { cursor } = await page('?limit=1');
    expect((await call('GET', `${at()}/messages?limit=1&order=desc&cursor=${cursor}`)).status).toBe(400);
    expect((await call('GET', `/v1/agents/${agent}/sessions/chat-1/messages?cursor=${cursor}`)).status).toBe(
      400,
    );
  });

  httpCase('a range is forgotten, both ends included, and nothing else', async () => {
    const minute = (n: number) => Date.parse(T) + n * 60_000;
    await remember([0, 1, 2, 3].map((n) => ({ id: `m${n}`, content: n, sender, timestamp: minute(n) })));

    const forgotten = await call('DELETE', `${at()}/messages?from=${minute(1)}&to=${minute(2)}`);
    expect(forgotten.json()).toEqual({ deleted: 2, capsules: 0 });
    expect(await ids()).toEqual(['m0', 'm3']);
    expect((await call('DELETE', `${at()}/messages?from=${minute(1)}`)).status).toBe(400);
    expect((await call('DELETE', `${at()}/messages`)).status).toBe(400);
    expect((await call('DELETE', `${at()}/messages?from=x&to=${T}`)).status).toBe(400);
    expect(await ids()).toEqual(['m0', 'm3']);
  });

  httpCase(
    'messages of any size come back whole, and pages end before they are too large to be sent',
    async () => {
      const large = Array.from({ length: 4 }, (_, index) => ({
        id: `l${index}`,
        content: randomBytesOf(340_000, `large ${index}`).toString('base64'),
        sender,
        timestamp: index,
      }));
      for (const message of large) expect((await remember(message)).status).toBe(201);
      await remember(
        Array.from({ length: 90 }, (_, index) => ({
          id: `k${index}`,
          content: 'k'.repeat(60_000),
          sender,
          timestamp: 100 + index,
        })),
      );

      const pages = await allIds(1000);
      expect(pages.length).toBeGreaterThan(1);
      expect(pages.flat()).toHaveLength(94);
      expect(new Set(pages.flat()).size).toBe(94);
      expect((await page('?limit=1')).items[0]?.content).toBe(large[0]?.content);

      expect((await call('DELETE', `${at()}/messages?from=0&to=1`)).json()).toEqual({
        deleted: 2,
        capsules: 0,
      });
      expect((await page('?limit=1')).items[0]?.content).toBe(large[2]?.content);
      expect((await call('DELETE', `${at()}?memory=forget`)).status).toBe(204);
      expect((await call('GET', at())).status).toBe(404);
    },
    60_000,
  );

  httpCase('the whole memory is one document, and a session without capsules lists none', async () => {
    await remember([
      { id: 'm1', content: 'one', sender, timestamp: T },
      { id: 'm2', content: 'two', sender, timestamp: T },
    ]);

    const exported = await call('GET', `${at()}/export`);
    expect(exported.status).toBe(200);
    expect(exported.json()).toMatchObject({
      agent,
      session,
      messages: [{ id: 'm1' }, { id: 'm2' }],
      capsules: [],
    });
    expect((await call('GET', `${at()}/capsules`)).json()).toEqual({ items: [] });
    expect((await call('GET', `${at()}/capsules?limit=x`)).status).toBe(400);
  });
});
