import { beforeEach, describe, expect } from 'vitest';
import { randomBytesOf } from '../support/random-bytes.ts';
import { httpCase } from './case.ts';
import { deployment } from './deployment.ts';

interface Window {
  items: { id: string; content: unknown }[];
  previous?: string;
  previousSummary?: unknown;
  moment: string;
}
interface Capsule {
  id: string;
  summary: unknown;
  messageIds: string[];
  previousId: string | null;
  messageCount: number;
}

const json = { 'content-type': 'application/json' };
const dayMs = 86_400_000;

describe('capsules over HTTP, as an agent in another language makes them', () => {
  const { agent: own, call } = deployment();
  let sessions = 0;
  let session = '';
  // An agent with the default policy: due after a week.
  const at = (agent = 'probe') => `/v1/agents/${agent}/sessions/${session}`;
  const post = (path: string, body: unknown) =>
    call('POST', path, { body: JSON.stringify(body), headers: json });
  const remember = async (ids: readonly string[], agent?: string, daysAgo = 10) => {
    const timestamp = Date.now() - daysAgo * dayMs;
    const messages = ids.map((id) => ({ id, content: `said ${id}`, sender: { id: 'ann' }, timestamp }));
    expect((await post(`${at(agent)}/messages`, messages)).status).toBe(201);
  };
  const due = async () => {
    const answer = await call('GET', `${at()}/messages?due=compaction`);
    expect(answer.status).toBe(200);
    return answer.json() as Window;
  };
  const compact = (body: unknown, agent?: string) => post(`${at(agent)}/capsules`, body);
  const summed = ({ items, previous, previousSummary, moment }: Window) => ({
    messageIds: items.map(({ id }) => id),
    summary: [previousSummary, ...items.map(({ content }) => content)].filter(Boolean).join(', '),
    ...{ previous, moment },
  });
  const raw = async (agent?: string) => {
    const { items } = (await call('GET', `${at(agent)}/messages`)).json() as Window;
    return items.map(({ id }) => id);
  };
  const capsules = async () => ((await call('GET', `${at()}/capsules`)).json() as { items: Capsule[] }).items;
  const forgetAll = async () => {
    const query = `from=0&to=${Date.now()}`;
    expect((await call('DELETE', `${at()}/messages?${query}`)).status).toBe(200);
  };

  beforeEach(async () => {
    session = `${own}-${++sessions}`;
    for (const agent of ['probe', own]) await call('PUT', at(agent));
  });

  httpCase('what is due is summarised, window by window, each capsule on the one before', async () => {
    await remember(['m1', 'm2']);
    await remember(['new'], 'probe', 1);

    const first = await due();
    expect(first.items.map(({ id }) => id)).toEqual(['m1', 'm2']);
    expect(first).not.toHaveProperty('previous');
    const answer = await compact(summed(first));

    expect(answer.status).toBe(201);
    expect(answer.json()).toMatchObject({
      ...{ summary: 'said m1, said m2', messageIds: ['m1', 'm2'], messageCount: 2, previousId: null },
    });
    expect(await raw()).toEqual(['new']);
    expect((await due()).items).toEqual([]);

    await remember(['m3']);
    const second = await due();
    expect(second).toMatchObject({
      previous: (answer.json() as Capsule).id,
      previousSummary: 'said m1, said m2',
    });
    const next = await compact(summed(second));
    expect(next.json()).toMatchObject({
      ...{ summary: 'said m1, said m2, said m3', messageIds: ['m3'], messageCount: 3 },
      previousId: second.previous,
    });
    expect(await capsules()).toEqual([answer.json(), next.json()]);
    expect(await raw()).toEqual(['new']);
  });

  httpCase(
    'asking for what is due changes nothing, and is for those who asked for nothing else',
    async () => {
      await remember(['m1']);
      expect((await due()).items).toEqual((await due()).items);
      expect(await raw()).toEqual(['m1']);
      for (const query of ['due=pruning', 'due=', 'due=compaction&limit=5', 'due=compaction&until=0']) {
        expect([(await call('GET', `${at()}/messages?${query}`)).status, query]).toEqual([400, query]);
      }
      // The policy of an agent that nobody has defined never compacts; who chooses messages may.
      await remember(['m1'], own);
      const answer = await call('GET', `${at(own)}/messages?due=compaction`);
      expect(answer.json()).toMatchObject({ items: [] });
      expect((await compact({ messageIds: ['m1'], summary: 'one' }, own)).status).toBe(201);
      expect(await raw(own)).toEqual([]);
    },
  );

  httpCase(
    'a window of large messages ends where the answer is full, and its capsule is large too',
    async () => {
      const content = randomBytesOf(1_650_000, 'large').toString('base64');
      const timestamp = Date.now() - 10 * dayMs;
      for (const id of ['a', 'b', 'c', 'd'])
        await post(`${at()}/messages`, { id, content, sender: { id: 'ann' }, timestamp });

      const window = await due();
      expect(window.items.map(({ id }) => id)).toEqual(['a', 'b']);
      const stored = await compact({ ...summed(window), summary: content });
      expect(stored.status).toBe(201);
      expect(await capsules()).toEqual([stored.json()]);
      expect(await raw()).toEqual(['c', 'd']);
    },
  );

  httpCase('the same call again is the same capsule, also after the next one', async () => {
    await remember(['m1', 'm2']);
    const first = summed(await due());
    const answers = [await compact(first), await compact(first)];
    await remember(['m3']);
    const second = summed(await due());
    for (const body of [second, first, second]) answers.push(await compact(body));

    expect(answers.map(({ status }) => status)).toEqual([201, 201, 201, 201, 201]);
    const [one, oneAgain, two, oneLate, twoLate] = answers.map((answer) => answer.json());
    expect([oneAgain, oneLate, twoLate]).toEqual([one, one, two]);
    expect(await capsules()).toEqual([one, two]);
  });

  httpCase('of two at once over the same messages one is stored, and the other told so', async () => {
    for (let round = 0; round < 5; round++) {
      await remember([`m${round}`, `n${round}`]);
      const window = summed(await due());
      const before = await capsules();

      const answers = await Promise.all(
        ['one', 'two'].map((summary) => compact({ ...window, summary: `${summary} ${round}` })),
      );

      expect(answers.map(({ status }) => status).sort()).toEqual([201, 409]);
      const [stored, refused] = answers.sort((a, b) => a.status - b.status);
      expect(refused?.json()).toMatchObject({ code: 'overtaken' });
      expect(await capsules()).toEqual([...before, stored?.json()]);
      expect(await raw()).toEqual([]);
    }
  });

  httpCase('the same call twice at once is one capsule, and both are told of it', async () => {
    for (let round = 0; round < 5; round++) {
      await remember([`m${round}`]);
      const { moment, ...window } = summed(await due());

      const answers = await Promise.all([window, window, { ...window, moment }].map((body) => compact(body)));

      const stored = (await capsules()).at(-1);
      expect(answers.map((answer) => [answer.status, answer.json()])).toEqual(Array(3).fill([201, stored]));
      expect(await capsules()).toHaveLength(round + 1);
    }
  });

  httpCase('what was forgotten while it was summarised does not come back in a capsule', async () => {
    await remember(['m1', 'm2']);
    const window = summed(await due());
    const { moment, ...unaware } = window;

    await forgetAll();
    for (const body of [window, unaware]) {
      const answer = await compact(body);
      expect([answer.status, answer.json()]).toMatchObject([409, { code: 'overtaken' }]);
    }

    // Not under its old id either.
    await remember(['m1', 'm2']);
    expect((await compact(window)).status).toBe(409);
    expect(await capsules()).toEqual([]);
    expect(await raw()).toEqual(['m1', 'm2']);
    expect((await compact(summed(await due()))).status).toBe(201);
  });

  httpCase('a summary that builds on another capsule than the last is refused', async () => {
    await remember(['m1']);
    const first = summed(await due());
    await compact(first);
    await remember(['m2']);
    const window = summed(await due());

    for (const previous of [undefined, null, 'compaction-7', 'mine']) {
      const answer = await compact({ ...window, previous });
      expect([answer.status, answer.json()]).toMatchObject([409, { code: 'overtaken' }]);
    }
    // Others have taken in a part of it.
    await remember(['m3']);
    const wider = summed(await due());
    await compact(window);
    expect((await compact(wider)).status).toBe(409);
    expect(await raw()).toEqual(['m3']);
  });

  httpCase('a summary that says nothing, and what is no window, is refused by name', async () => {
    await remember(['m1']);
    const window = summed(await due());
    const refused: [unknown, number, string][] = [
      [{ ...window, summary: '' }, 400, 'empty_summary'],
      [{ ...window, summary: { role: 'assistant', content: ' ' } }, 400, 'empty_summary'],
      [{ messageIds: ['m1'] }, 400, 'empty_summary'],
      [{ ...window, messageIds: [] }, 400, 'invalid_input'],
      [{ ...window, messageIds: 'm1' }, 400, 'invalid_input'],
      [{ ...window, messageIds: ['m1', 'm1'] }, 400, 'invalid_input'],
      [{ ...window, messageIds: [''] }, 400, 'invalid_input'],
      [{ ...window, messageIds: Array.from({ length: 201 }, (_, n) => `m${n}`) }, 400, 'invalid_input'],
      [{ ...window, previous: 1 }, 400, 'invalid_input'],
      [{ ...window, moment: 'then' }, 400, 'invalid_request'],
      [{ ...window, moment: 7 }, 400, 'invalid_request'],
      [{ ...window, ids: [] }, 400, 'invalid_request'],
      [[], 400, 'invalid_request'],
      [{ ...window, messageIds: ['m1', 'other'] }, 409, 'overtaken'],
    ];
    for (const [body, status, code] of refused) {
      const answer = await compact(body);
      expect([answer.status, answer.json()]).toMatchObject([status, { code }]);
    }
    expect(await raw()).toEqual(['m1']);

    // The moment of a session is no other's.
    const moment = window.moment;
    session = `${session}-other`;
    await call('PUT', at());
    await remember(['m1']);
    expect((await compact({ messageIds: ['m1'], summary: 'x', moment })).status).toBe(400);
    session = `${session}-unknown`;
    for (const answer of [
      await compact({ messageIds: ['m1'], summary: 'x' }),
      await call('GET', `${at()}/messages?due=compaction`),
    ])
      expect([answer.status, answer.json()]).toMatchObject([404, { code: 'session_not_found' }]);
  });
});
