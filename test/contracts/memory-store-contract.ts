import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { pruneCapsules, pruneRawMemory } from '../../lib/lifecycle/prune.ts';
import type { AgentMemory, RecentQuery } from '../../lib/memory/agent-memory.ts';
import { createMemory, type MemoryOptions } from '../../lib/memory/create-memory.ts';
import type { MemoryStore } from '../../lib/memory/memory-store.ts';
import type { Message, NewMessage } from '../../lib/memory/message.ts';
import { DEFAULT_RETENTION } from '../../lib/memory/retention.ts';
import { mixedUpPairs } from '../support/mixed-up-pairs.ts';
import { randomBytesOf } from '../support/random-bytes.ts';
import { type TestClock, testClock } from '../support/test-clock.ts';

export interface MemoryStoreUnderTest {
  open(options: { clock: () => Date }): MemoryStore;
  close?(): Promise<void>;
}

const byTurn = (a: unknown, b: unknown) => (a as { turn: number }).turn - (b as { turn: number }).turn;
const storedMessage: Message = {
  ...{ id: 'm', content: 'm', sender: { id: 'ann' }, timestamp: '2027-01-01T00:00:00.250Z' },
  ...{ source: null, metadata: {} },
};

const keepForEver = { ...DEFAULT_RETENTION, rawRetentionSecs: null };

/** What every memory store must do, through the memory that is made of it. */
export function describeMemoryStore(name: string, setUp: () => Promise<MemoryStoreUnderTest>): void {
  describe(`${name} keeps the contract of a memory store`, () => {
    let underTest: MemoryStoreUnderTest;
    let clock: TestClock;
    let store: MemoryStore;
    let agent: string;
    let memory: AgentMemory;
    let agents = 0;

    beforeAll(async () => {
      underTest = await setUp();
    });
    beforeEach(() => {
      clock = testClock();
      store = underTest.open({ clock: clock.now });
      agent = `agent-${++agents}`;
      memory = memoryOf('s1');
    });
    afterAll(async () => {
      await underTest.close?.();
    });

    const memoryOf = (
      session: string,
      {
        agent: of = agent,
        as: id = 'ann',
        ...more
      }: Partial<MemoryOptions> & { agent?: string; as?: string } = {},
    ) =>
      createMemory(...([of, session, { id }] as const), {
        stores: { memory: store },
        clock: clock.now,
        policy: keepForEver,
        ...more,
      });
    const pagesOf = async (query: RecentQuery = {}, of = memory) => {
      const pages: string[][] = [];
      let after: string | undefined;
      do {
        const page = await of.recent({ ...query, after });
        pages.push(page.items.map(({ id }) => id));
        after = page.next;
      } while (after !== undefined);
      return pages;
    };
    const idsOf = async (query: RecentQuery = {}, of = memory) => (await pagesOf(query, of)).flat();
    const say = (id: string, timestamp?: NewMessage['timestamp']): NewMessage => ({
      id,
      content: id,
      timestamp,
    });

    describe('order', () => {
      const T = '2027-01-01T00:00:00Z';

      test('equal timestamps stay in the order of arrival, across calls, page borders and in reverse', async () => {
        await memory.remember([say('z', T), say('a', T), say('m', T)]);
        await memory.remember(say('b', T));

        expect(await idsOf()).toEqual(['z', 'a', 'm', 'b']);
        expect(await pagesOf({ limit: 1 })).toEqual([['z'], ['a'], ['m'], ['b']]);
        expect(await idsOf({ order: 'desc' })).toEqual(['b', 'm', 'a', 'z']);
        expect(await pagesOf({ order: 'desc', limit: 1 })).toEqual([['b'], ['m'], ['a'], ['z']]);
      });

      test('timestamps of every spelling sort by what they mean', async () => {
        await memory.remember([
          say('ms-10', 10),
          say('ms-9', 9),
          say('fraction', '2026-01-01T00:00:00.001Z'),
          say('whole', '2026-01-01T00:00:00Z'),
          say('offset', '2026-01-01T01:00:00+02:00'),
          say('before 1970', '1969-12-31T23:59:59Z'),
          say('date', new Date('2026-01-01T00:00:00.002Z')),
        ]);

        const { items } = await memory.recent();
        expect(items.map(({ id, timestamp }) => [id, timestamp])).toEqual([
          ['before 1970', '1969-12-31T23:59:59.000Z'],
          ['ms-9', '1970-01-01T00:00:00.009Z'],
          ['ms-10', '1970-01-01T00:00:00.010Z'],
          ['offset', '2025-12-31T23:00:00.000Z'],
          ['whole', '2026-01-01T00:00:00.000Z'],
          ['fraction', '2026-01-01T00:00:00.001Z'],
          ['date', '2026-01-01T00:00:00.002Z'],
        ]);
      });

      test('a clock that goes back orders by its time', async () => {
        await memory.remember(say('first'));
        clock.advanceSecs(-5);
        await memory.remember(say('second'));

        expect(await idsOf()).toEqual(['second', 'first']);
      });

      test('a hundred messages of one call keep their order', async () => {
        const sent = Array.from({ length: 100 }, (_, index) => say(`m${99 - index}`));
        await memory.remember(sent);

        expect(await idsOf({ limit: 7 })).toEqual(sent.map(({ id }) => id));
      });
    });

    describe('a message sent again', () => {
      test('is the same message, in its place, with its first timestamp', async () => {
        const sent = [say('m1'), say('m2')];
        const first = await memory.remember(sent);
        clock.advanceSecs(10);
        await memory.remember(say('m3'));

        expect(await memory.remember(sent)).toEqual(first);
        expect(await memory.remember(say('m1'))).toEqual([first[0]]);
        expect(await memory.remember(say('m1', '2027-06-01T00:00:00Z'))).toEqual([first[0]]);
        expect(await idsOf()).toEqual(['m1', 'm2', 'm3']);
      });

      test('with other content, or from another sender, is refused, and the others of its call are stored', async () => {
        await memory.remember(say('m1'));

        for (const other of [
          { id: 'm1', content: 'other' },
          { id: 'm1', content: 'm1', sender: { id: 'bob' } },
        ])
          await expect(memory.remember([say('m0'), other, say('m2')])).rejects.toMatchObject({
            code: 'id_conflict',
            ids: ['m1'],
          });

        const { items } = await memory.recent();
        expect(items.map(({ id, content }) => [id, content])).toEqual([
          ['m1', 'm1'],
          ['m0', 'm0'],
          ['m2', 'm2'],
        ]);
      });

      test('is the same at any depth, and another one is refused', async () => {
        const nested = (inmost: unknown, depth = 2_000) => {
          let value = inmost;
          for (let level = 0; level < depth; level++) value = level % 2 === 0 ? [value] : { value };
          return value;
        };
        await memory.remember({ id: 'm1', content: nested('a') });

        expect(
          await memory.remember({ id: 'm1', content: nested('a'), metadata: { attempt: 2 } }),
        ).toMatchObject([{ id: 'm1', metadata: {} }]);
        await expect(memory.remember({ id: 'm1', content: nested('b') })).rejects.toMatchObject({
          code: 'id_conflict',
        });
      });

      test('with its properties in another order, or other metadata, is the same', async () => {
        await memory.remember({ id: 'm1', content: { a: 1, b: [2] }, metadata: { attempt: 1 } });
        const again = await memory.remember({
          id: 'm1',
          content: { b: [2], a: 1 },
          metadata: { attempt: 2 },
        });

        expect(again).toMatchObject([{ id: 'm1', metadata: { attempt: 1 } }]);
      });

      test('in one request is one message; two contents under one id are refused before anything is stored', async () => {
        const sent = Array.from({ length: 51 }, (_, index) => say(`m${index === 50 ? 49 : index}`));
        const stored = await memory.remember(sent);

        expect(stored).toHaveLength(51);
        expect(stored[50]).toEqual(stored[49]);
        expect(await idsOf()).toHaveLength(50);

        const contradicting = [say('n1'), { id: 'n1', content: 'other' }];
        await expect(memory.remember(contradicting)).rejects.toMatchObject({
          code: 'invalid_input',
          field: 'messages[1].id',
        });
        expect(await idsOf()).not.toContain('n1');
        const reordered = [
          { id: 'n2', content: { a: 1, b: 2 } },
          { id: 'n2', content: { b: 2, a: 1 } },
        ];
        expect(await memory.remember(reordered)).toMatchObject([{ id: 'n2' }, { id: 'n2' }]);
      });

      test('by ten callers at once is stored once', async () => {
        const sent = [say('z'), say('a'), say('m')];
        const outcomes = await Promise.all(Array.from({ length: 10 }, () => memory.remember(sent)));

        expect(await idsOf()).toEqual(['z', 'a', 'm']);
        for (const outcome of outcomes) expect(outcome).toEqual(outcomes[0]);
      });

      test('after it was forgotten is a message again', async () => {
        await memory.remember(say('m1'));
        await memory.forgetSessionRange(clock.now(), clock.now());
        clock.advanceSecs(10);
        await memory.remember(say('m1'));

        expect((await memory.recent()).items).toMatchObject([
          { id: 'm1', timestamp: '2027-01-01T00:00:10.250Z' },
        ]);
      });
    });

    describe('contents', () => {
      test('come back as they were, with sender, source and metadata', async () => {
        const contents = [
          '',
          0,
          false,
          null,
          [],
          {},
          { s: '', k: { '': 1 } },
          '__proto__',
          [1, [2]],
          new Date(0),
        ];
        const message = {
          sender: { id: 'bob', name: 'Bob' },
          source: { id: 'doc-1', page: 3 },
          metadata: { name: 1, ttl: 2, status: 'x' },
        };
        await memory.remember(contents.map((content, index) => ({ id: `m${index}`, content, ...message })));

        const { items } = await memory.recent();
        expect(items.map(({ content }) => content)).toEqual(contents);
        for (const item of items) expect(item).toMatchObject(message);
        expect(await memory.remember({ content: 'x' })).toMatchObject([
          { sender: { id: 'ann' }, source: null, metadata: {}, timestamp: '2027-01-01T00:00:00.250Z' },
        ]);
      });

      test('of 450 KB, and of exactly what an item may hold and around it, are stored and listed whole', async () => {
        const sizes = [450_000, 8_000, 6_143, 300_000, 1_500_000];
        const sent = sizes.map((size, index) => ({
          id: `m${index}`,
          content: randomBytesOf(size, `${size}`).toString('base64'),
        }));
        await memory.remember(sent);
        await memory.remember(sent.slice(0, 2));

        const { items } = await memory.recent();
        expect(items.map(({ id, content }) => ({ id, content }))).toEqual(sent);
      });

      test('3 MB of messages come in pages that add up, and the last one has no next', async () => {
        const sent = Array.from({ length: 30 }, (_, index) => ({
          id: `m${index}`,
          content: randomBytesOf(5_800, `page ${index}`).toString('base64'),
          metadata: { padding: randomBytesOf(80_000, `padding ${index}`).toString('base64') },
        }));
        await memory.remember(sent);

        const ids = sent.map(({ id }) => id);
        expect(await pagesOf({ limit: 10 })).toEqual([ids.slice(0, 10), ids.slice(10, 20), ids.slice(20)]);
        expect(await pagesOf({ limit: 1000 })).toEqual([ids]);
        expect((await idsOf({ limit: 9, order: 'desc' })).reverse()).toEqual(ids);
      });
    });

    describe('a message that the policy has removed by now', () => {
      const policy = { ...DEFAULT_RETENTION, name: 'month', rawRetentionSecs: 30 * 86_400 };
      const removed = () => clock.now().getTime() - 30 * 86_400_000;

      test('is refused with its field and the time of the policy, and nothing of its call is stored', async () => {
        const month = memoryOf('s1', { policy });

        const refused = month.remember([say('a'), say('b', removed())]);

        await expect(refused).rejects.toMatchObject({
          ...{ code: 'invalid_input', field: 'messages[1].timestamp' },
          message: expect.stringContaining("'month' removes messages up to 2026-12-02T00:00:00.250Z"),
        });
        expect(await idsOf()).toEqual([]);
        expect(await month.remember(say('c', removed() + 1))).toMatchObject([{ id: 'c' }]);
      });

      test('is refused when it is sent again after its time', async () => {
        const month = memoryOf('s1', { policy });
        const message = say('a', removed() + 1);
        await month.remember(message);
        clock.advanceSecs(1);

        await expect(month.remember(message)).rejects.toMatchObject({ code: 'invalid_input' });
      });
    });

    test('what is changed after the call is stored as it was at the call', async () => {
      const message = { content: { turn: 1, list: [1] } };
      const value = { turn: 1 };

      const calls = [1, 2, 3].map((turn) => {
        message.content.turn = turn;
        message.content.list.push(turn);
        value.turn = turn;
        return [memory.remember(message), memory.setUserData(`turn ${turn}`, value)];
      });
      const capsule = { ...memory.capsuleFromWindow([storedMessage], value), id: 'k' };
      calls.push([memory.remember([message]), memory.storeCapsule(capsule)] as never);
      message.content.turn = 9;
      value.turn = 9;
      await Promise.all(calls.flat());

      const { items } = await memory.recent();
      expect(items.map(({ content }) => content).sort(byTurn)).toEqual([
        { turn: 1, list: [1, 1] },
        { turn: 2, list: [1, 1, 2] },
        { turn: 3, list: [1, 1, 2, 3] },
        { turn: 3, list: [1, 1, 2, 3] },
      ]);
      expect(await memory.getUserData()).toEqual({
        'turn 1': { turn: 1 },
        'turn 2': { turn: 2 },
        'turn 3': { turn: 3 },
      });
      expect((await memory.getCapsule('k'))?.summary).toEqual({ turn: 3 });
    });

    describe('recent', () => {
      beforeEach(async () => {
        await memory.remember(Array.from({ length: 10 }, (_, hour) => say(`h${hour}`, hour * 3_600_000)));
      });

      test('takes an inclusive range, hours back from now, an order and a limit', async () => {
        expect(await idsOf({ since: 3_600_000, until: '1970-01-01T03:00:00Z' })).toEqual(['h1', 'h2', 'h3']);
        expect(await idsOf({ since: 3_600_001, until: 3 * 3_600_000 - 1 })).toEqual(['h2']);
        expect(await pagesOf({ since: 3_600_000, until: 3 * 3_600_000, limit: 2, order: 'desc' })).toEqual([
          ['h3', 'h2'],
          ['h1'],
        ]);
        expect(await idsOf({ since: 5, until: 4 })).toEqual([]);
        expect(await idsOf({ hours: 1 })).toEqual([]);
        expect(await idsOf({ hours: 24 * 366 * 100 })).toHaveLength(10);
        expect(await idsOf({ hours: 1e12 })).toHaveLength(10);
      });

      test.each([
        ['since', { since: 'soon' }],
        ['since', { since: Number.NaN }],
        ['since', { since: '2026-01-01T00:00:00' }],
        ['until', { until: '2026-02-30T00:00:00Z' }],
        ['until', { until: 1e16 }],
        ['hours', { hours: 0 }],
        ['hours', { hours: 1, since: 0 }],
        ['limit', { limit: 0 }],
        ['limit', { limit: 1001 }],
        ['limit', { limit: 1.5 }],
        ['order', { order: 'up' as 'asc' }],
        ['after', { after: 'mangled' }],
      ])('refuses a bad %s by name: %o', async (field, query) => {
        await expect(memory.recent(query)).rejects.toMatchObject({ code: 'invalid_input', field });
      });
    });

    test.each([
      ['messages[1].timestamp', { content: 'x', timestamp: 'soon' }],
      ['messages[1].timestamp', { content: 'x', timestamp: Number.NaN }],
      ['messages[1].timestamp', { content: 'x', timestamp: 1_798_761_600 }],
      ['messages[1].timestamp', { content: 'x', timestamp: 1e8 }],
      ['messages[1].content', {}],
      ['messages[1].content.run', { content: { run: () => 1 } }],
      ['messages[1].id', { id: '', content: 'x' }],
      ['messages[1].sender.id', { content: 'x', sender: { id: '' } }],
      ['messages[1].metadata', { content: 'x', metadata: 3 }],
    ])('remember refuses a bad %s before anything is stored', async (field, bad) => {
      await expect(memory.remember([say('good'), bad as NewMessage])).rejects.toMatchObject({
        code: 'invalid_input',
        field,
      });
      expect(await idsOf()).toEqual([]);
    });

    describe('forgetting', () => {
      test('a range goes with both its ends, and is counted', async () => {
        await memory.remember(Array.from({ length: 10 }, (_, at) => say(`t${at}`, at)));

        expect(await memory.forgetSessionRange(2, 5)).toBe(4);
        expect(await memory.forgetSessionRange(2, 5)).toBe(0);
        expect(await memory.forgetSessionRange(5, 2)).toBe(0);
        expect(await idsOf()).toEqual(['t0', 't1', 't6', 't7', 't8', 't9']);
      });

      test('what a predicate or a source names goes, and capsules made with the source', async () => {
        await memory.remember([
          { id: 'a', content: 'a', source: 'doc-1' },
          { id: 'b', content: 'b', source: { id: 'doc-1' } },
          { id: 'c', content: 'c', source: 'doc-10' },
          { id: 'd', content: 'd' },
        ]);
        const { items } = await memory.recent();
        const k1 = await memory.storeCapsule(memory.capsuleFromWindow(items.slice(0, 1), 'with the source'));
        await memory.storeCapsule({ ...memory.capsuleFromWindow(items.slice(2), 'later', k1), id: 'k2' });
        await memory.storeCapsule({ ...memory.capsuleFromWindow(items.slice(2), 'without'), id: 'k3' });

        expect(await memory.forgetBySourceId('doc-1')).toBe(4);
        expect(await idsOf()).toEqual(['c', 'd']);
        expect((await memory.listCapsules()).items.map(({ id }) => id)).toEqual(['k3']);
        expect(await memory.forgetSessionWhere(({ content }) => content === 'd')).toBe(1);
        expect(await idsOf()).toEqual(['c']);
      });

      test('after a clear, the same call is a new one: its own time, and its own place, whatever its contents', async () => {
        const sent = [say('1'), say('2')];
        for (const again of [sent, sent.map(({ id }) => ({ id, content: `other ${id}` }))]) {
          await memory.remember(sent);
          clock.advanceSecs(2);
          await memory.forgetSessionRange(0, clock.now());
          await memory.remember(say('0'));
          await memory.remember(again);

          const { items } = await memory.recent();
          expect(items.map(({ id, timestamp }) => [id, timestamp])).toEqual(
            ['0', '1', '2'].map((id) => [id, clock.now().toISOString()]),
          );
          expect(items.slice(1).map(({ content }) => content)).toEqual(again.map(({ content }) => content));
          await memory.forgetSession();
        }
      });

      test('of a range or by a predicate says how many capsules still hold something of it, and forgets them where asked', async () => {
        const sent = ['a', 'b', 'c'].map((id, index) => say(id, (index + 1) * 1_000));
        const [a, b, c] = await memory.remember(sent);
        if (!a || !b || !c) throw new Error('not remembered');
        const k1 = await memory.storeCapsule({ ...memory.capsuleFromWindow([a], 'a'), id: 'k1' });
        await memory.storeCapsule({ ...memory.capsuleFromWindow([b], 'ab', k1), id: 'k2' });
        await memory.storeCapsule({ ...memory.capsuleFromWindow([c], 'c'), id: 'k3' });
        const ids = async () => (await memory.listCapsules()).items.map(({ id }) => id);

        expect(await memory.forgetMessages({ from: 1_500, to: 1_600 })).toEqual({ deleted: 0, capsules: 1 });
        expect(await memory.forgetMessages({ from: 1_000, to: 1_000 })).toEqual({ deleted: 1, capsules: 2 });
        expect(await memory.forgetMessages({ from: 1_000, to: 1_000 })).toEqual({ deleted: 0, capsules: 2 });
        expect(await memory.forgetMessages({ where: ({ id }) => id === 'c' })).toEqual({
          ...{ deleted: 1, capsules: 1 },
        });
        expect(await ids()).toEqual(['k1', 'k2', 'k3']);
        const all = { capsules: 'forget' } as const;
        expect(await memory.forgetMessages({ from: 0, to: 1_000 }, all)).toEqual({ deleted: 0, capsules: 0 });
        expect(await ids()).toEqual(['k3']);
        await memory.storeCapsule({ ...memory.capsuleFromWindow([b], 'b'), id: 'k4' });
        await memory.forgetMessages({ where: ({ id }) => id === 'b' }, all);
        expect(await ids()).toEqual(['k3']);
      });

      test('a capsule of a message that was forgotten is refused', async () => {
        const window = await memory.remember(say('a'));
        await memory.forgetSessionRange(0, clock.now());

        const capsule = memory.capsuleFromWindow(window, 'a');

        await expect(memory.storeCapsule(capsule)).rejects.toMatchObject({
          ...{ code: 'invalid_input', field: 'capsule.messageIds' },
        });
        expect((await memory.listCapsules()).items).toEqual([]);
      });

      test('by source follows the chain of capsules, also through those that have been pruned', async () => {
        const policy = { ...keepForEver, capsuleRetentionSecs: 60 };
        const short = memoryOf('s1', { policy });
        const windowOf = async (id: string, source?: string) => short.remember({ ...say(id), source });
        const k1 = await short.storeCapsule({
          ...short.capsuleFromWindow(await windowOf('a', 'doc-1'), 'a'),
          id: 'k1',
        });
        clock.advanceSecs(50);
        const k2 = await short.storeCapsule({
          ...short.capsuleFromWindow(await windowOf('b', 'doc-2'), 'ab', k1),
          id: 'k2',
        });
        await short.storeCapsule({ ...short.capsuleFromWindow(await windowOf('x'), 'x'), id: 'other' });
        clock.advanceSecs(50);
        await pruneCapsules(short, policy);
        await short.storeCapsule({
          ...short.capsuleFromWindow(await windowOf('c'), 'abc', k2),
          id: 'k3',
        });
        const ids = async () => (await short.listCapsules()).items.map(({ id }) => id);
        expect(await ids()).toEqual(['k2', 'other', 'k3']);

        expect(await short.forgetBySourceId('doc-1')).toBe(3);

        expect(await ids()).toEqual(['other']);
      });

      test('a session goes with all that belongs to it, and nothing of a neighbour', async () => {
        const neighbours = ['s1', 's10', 's1/x', 's1#', 'S1', 's', '%', 's1~', 's1/', '/s1'];
        const all = [agent, `${agent}0`, `${agent}/s1`, `${agent}~s1`].flatMap((of) =>
          neighbours.map((session) => memoryOf(session, { agent: of })),
        );
        for (const of of all) {
          const own = JSON.stringify(of.scope);
          const [message] = await of.remember({ id: 'm#1', content: own });
          await of.setUserData('key', own);
          await of.storeCapsule({ ...of.capsuleFromWindow(message ? [message] : [], own), id: 'k' });
        }

        expect(await memory.forgetSession()).toBe(1);

        for (const of of all) {
          const own = JSON.stringify(of.scope);
          const gone = of.scope.agent === agent && of.scope.session === 's1';
          const contents = (await of.recent()).items.map(({ content }) => content);
          expect(contents).toEqual(gone ? [] : [own]);
          expect(await of.getUserData()).toEqual(gone ? {} : { key: own });
          expect((await of.getCapsule('k'))?.summary).toBe(gone ? undefined : own);
        }
      });

      test('no two pairs of agent and session share a message, a capsule, user data or knowledge', async () => {
        const pairs = [
          ...mixedUpPairs,
          ...[
            ['s', 'm#1'],
            ['s', 'message/m'],
            ['s', 's'],
            ['s', 'limbo/1'],
            ['plan', 'x'],
            ['planner', 'x'],
          ],
        ] as [string, string][];
        const all = pairs.map(([of, session]) => memoryOf(session, { agent: `${of}${agents}` }));
        for (const of of all) {
          const own = JSON.stringify(of.scope);
          await of.remember({ id: 'm', content: own });
          await of.setUserData('k', own);
          await of.learn(own, own);
        }

        for (const of of all) {
          const own = JSON.stringify(of.scope);
          expect((await of.recent()).items.map(({ content }) => content)).toEqual([own]);
          expect(await of.getUserData()).toEqual({ k: own });
          const known = Object.keys(await of.getKnowledge());
          expect(known).toContain(own);
          expect(known.filter((key) => JSON.parse(key).agent !== of.scope.agent)).toEqual([]);
        }
      });

      test('a cursor of a wider list shows nothing beyond a narrower one, from either end', async () => {
        const at = clock.now().getTime() - 1_000;
        await memory.remember(['a', 'b', 'c', 'd', 'e'].map((id, index) => say(id, at + index)));
        const afterFirst = (await memory.recent({ limit: 1 })).next;
        const beforeLast = (await memory.recent({ limit: 1, order: 'desc' })).next;
        const inner = { since: at + 2, until: at + 2 };
        const idsOfPage = async (query: RecentQuery) =>
          (await memory.recent(query)).items.map(({ id }) => id).join('');

        expect(await idsOfPage({ ...inner, after: afterFirst })).toBe('c');
        expect(await idsOfPage({ ...inner, after: beforeLast, order: 'desc' })).toBe('c');
        expect(await idsOfPage({ after: afterFirst })).toBe('bcde');
        expect(await idsOfPage({ after: beforeLast, order: 'desc' })).toBe('dcba');
      });

      test('a cursor of one session shows nothing of another', async () => {
        await memory.remember([say('a'), say('b')]);
        const other = memoryOf('s2');
        await other.remember([say('c'), say('d')]);
        const { next } = await memory.recent({ limit: 1 });

        const page = await other.recent({ after: next });
        expect(['c', 'd']).toEqual(expect.arrayContaining(page.items.map(({ id }) => id)));
      });
    });

    describe('retention', () => {
      const policy = {
        ...DEFAULT_RETENTION,
        rawRetentionSecs: 60,
        compactAfterSecs: null,
        capsuleRetentionSecs: 120,
      };

      test.each([
        ['small', 10],
        ['large', 20_000],
      ])('an expired message (%s) is absent in every respect', async (_, size) => {
        const short = memoryOf('s1', { policy });
        const content = randomBytesOf(size, 'old').toString('base64');
        await short.remember({ id: 'm1', content });
        await short.remember({ id: 'later', content: 'later', timestamp: clock.now().getTime() + 60_000 });
        clock.advanceSecs(59);
        expect(await idsOf()).toEqual(['m1', 'later']);

        clock.advanceSecs(1);

        expect(await idsOf()).toEqual(['later']);
        expect(await idsOf({ limit: 1 })).toEqual(['later']);
        expect(await memory.forgetSessionRange(0, clock.now().getTime() - 1)).toBe(0);
        await short.remember({ id: 'm1', content: 'new' });
        expect(await idsOf()).toEqual(['later', 'm1']);
      });

      test('pruning tells of what it removed, also of what nobody could see any more, and of nothing twice', async () => {
        const short = memoryOf('s1', { policy });
        const start = clock.now().getTime();
        await short.remember([say('a'), say('b'), { ...say('later'), timestamp: start + 1 }]);
        await memory.remember({ ...say('imported'), timestamp: start - 40 * 86_400_000 });
        const window = await short.remember(say('c'));
        await short.storeCapsule({ ...short.capsuleFromWindow(window, 'sum'), id: 'k' });
        await memoryOf('s2', { policy }).remember(say('other'));
        clock.advanceSecs(60);

        expect(await pruneRawMemory(short, policy)).toBe(4);
        expect(await pruneRawMemory(short, policy)).toBe(0);
        expect(await idsOf()).toEqual(['later']);
        expect(await pruneCapsules(short, policy)).toBe(0);
        clock.advanceSecs(60);
        expect(await pruneCapsules(short, policy)).toBe(1);
        expect(await pruneRawMemory(short, policy)).toBe(1);
      });

      test('a capsule expires as the policy says', async () => {
        const short = memoryOf('s1', { policy });
        const window = await short.remember(say('m1'));
        await short.storeCapsule({ ...short.capsuleFromWindow(window, 'sum'), id: 'k' });
        clock.advanceSecs(120);

        expect(await short.getCapsule('k')).toBeUndefined();
        expect((await short.listCapsules()).items).toEqual([]);
      });

      test('0 and below keep for ever', async () => {
        for (const rawRetentionSecs of [0, -1, null])
          await memoryOf('s1', { policy: { ...policy, rawRetentionSecs } }).remember(
            say(`${rawRetentionSecs}`),
          );
        clock.advanceSecs(1e9);

        expect(await idsOf()).toHaveLength(3);
      });

      test('what the policy forbids is refused by code, and nothing is removed', async () => {
        const strict = memoryOf('s1', {
          policy: { ...keepForEver, name: 'strict', exportAllowed: false, forgetAllowed: false },
        });
        await strict.remember(say('m1'));
        await strict.setUserData('key', 1);
        await strict.learn('key', 1);

        for (const call of [
          () => strict.forgetSession(),
          () => strict.forgetSessionRange(0, clock.now()),
          () => strict.forgetSessionWhere(() => true),
          () => strict.forgetBySourceId('x'),
          () => strict.forgetUserKey('key'),
          () => strict.forgetKbKey('key'),
          () => strict.exportMemory(),
        ])
          await expect(call()).rejects.toMatchObject({ code: 'forbidden_by_policy', policy: 'strict' });
        expect(await memory.exportMemory()).toMatchObject({
          messages: [{ id: 'm1' }],
          users: { ann: { key: 1 } },
          knowledge: { key: 1 },
        });
      });
    });

    describe('capsules', () => {
      test('say what they were made of, and build on each other', async () => {
        const [a, b] = await memory.remember([
          { id: 'a', content: 'a', timestamp: 1, source: 'doc-1' },
          { id: 'b', content: 'b', timestamp: 2 },
        ]);
        const [c] = await memory.remember({ id: 'c', content: 'c', timestamp: 3, source: 'doc-2' });
        if (!a || !b || !c) throw new Error('not remembered');

        const k1 = await memory.storeCapsule({ ...memory.capsuleFromWindow([a, b], 'ab'), id: 'k1' });
        clock.advanceSecs(1);
        const k2 = await memory.storeCapsule({
          ...memory.capsuleFromWindow([c], { text: 'abc' }, k1),
          id: 'k2',
        });

        expect(k2).toEqual({
          id: 'k2',
          summary: { text: 'abc' },
          from: a.timestamp,
          to: c.timestamp,
          messageCount: 3,
          messageIds: ['c'],
          sourceIds: ['doc-2'],
          previousId: 'k1',
          createdAt: '2027-01-01T00:00:01.250Z',
          metadata: {},
        });
        expect(await memory.getCapsule('k1')).toEqual(k1);
        expect(await memory.getCapsule('k3')).toBeUndefined();
        expect((await memory.listCapsules()).items).toEqual([k1, k2]);
        expect((await memory.listCapsules({ order: 'desc', limit: 1 })).items).toEqual([k2]);
      });

      test('stored again are the same; another one under the id is refused', async () => {
        const window = await memory.remember(say('m1'));
        const capsule = { ...memory.capsuleFromWindow(window, 'one'), id: 'k' };
        const first = await memory.storeCapsule(capsule);
        clock.advanceSecs(1);

        expect(await memory.storeCapsule(capsule)).toEqual(first);
        await expect(memory.storeCapsule({ ...capsule, summary: 'two' })).rejects.toMatchObject({
          code: 'id_conflict',
          ids: ['k'],
        });
        expect(await memory.getCapsule('k')).toEqual(first);
        expect(await idsOf()).toEqual(['m1']);
        expect(() => memory.capsuleFromWindow([], 'nothing')).toThrow('window');
      });
    });

    test('an export comes piece by piece, and adds up', async () => {
      const window = await memory.remember([say('a'), say('b')]);
      await memory.storeCapsule({ ...memory.capsuleFromWindow(window, 'ab'), id: 'k' });
      await memory.setUserData('key', 1);
      await memory.learn('fact', 2);

      const parts: string[] = [];
      for await (const part of memory.exportParts())
        parts.push(`${part.kind} ${'key' in part ? part.key : part.value.id}`);

      expect(parts).toEqual(['message a', 'message b', 'capsule k', 'user key', 'knowledge fact']);
      expect(await memory.exportMemory()).toMatchObject({
        ...{ messages: window, capsules: [{ id: 'k' }], users: { ann: { key: 1 } }, knowledge: { fact: 2 } },
      });
    });

    describe('user data and knowledge', () => {
      test('user data belongs to one identity in one session', async () => {
        const names = ['ann', 'ann/x', 'ann%', '/', 'an'];
        for (const as of names) await memoryOf('s1', { as }).setUserData('x/y', { as });
        await memoryOf('s2').setUserData('x/y', 's2');
        await memory.setUserData('', 1).catch((error) => expect(error).toMatchObject({ field: 'key' }));
        await memory.setUserData('__proto__', [1]);

        expect(await memoryOf('s1', { as: 'ann/x' }).getUserData()).toEqual({ 'x/y': { as: 'ann/x' } });
        expect(Object.entries(await memory.getUserData())).toEqual([
          ['__proto__', [1]],
          ['x/y', { as: 'ann' }],
        ]);
        expect(await memory.forgetUserKey('x/y')).toBe(true);
        expect(await memory.forgetUserKey('x/y')).toBe(false);
        const { users } = await memory.exportMemory();
        expect(Object.keys(users).sort()).toEqual([...names].sort());
        expect(users['ann/x']).toEqual({ 'x/y': { as: 'ann/x' } });
      });

      test('knowledge belongs to the agent, in all of its sessions', async () => {
        for (let index = 0; index < 20; index++) await memory.learn(`fact ${index}`, { index });
        await memory.learn('fact 0', 'replaced');
        await memoryOf('s1', { agent: `${agent}0` }).learn('fact 0', 'other agent');

        const elsewhere = memoryOf('s2');
        expect(await elsewhere.getKnowledge()).toMatchObject({
          'fact 0': 'replaced',
          'fact 19': { index: 19 },
        });
        expect(await elsewhere.forgetKbKey('fact 0')).toBe(true);
        expect(await elsewhere.forgetKbKey('fact 0')).toBe(false);
        expect(Object.keys(await memory.getKnowledge())).toHaveLength(19);
      });
    });
  });
}
