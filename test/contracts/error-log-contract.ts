import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Counters } from '../../lib/sessions/counters.ts';
import type { ErrorLog } from '../../lib/sessions/error-log.ts';

export interface ErrorLogUnderTest {
  /** A log over what this suite's other logs see too, as another process would open it. */
  open(): { errors: ErrorLog; counters: Counters };
  close?(): Promise<void>;
}

/** What every error log, and every keeper of counters, must do. */
export function describeErrorLog(name: string, setUp: () => Promise<ErrorLogUnderTest>): void {
  describe(`${name} keeps the contract of an error log and of counters`, () => {
    const at = new Date('2027-01-01T00:00:00.250Z');
    let underTest: ErrorLogUnderTest;
    let errors: ErrorLog;
    let counters: Counters;
    let agent: string;
    let agents = 0;

    beforeAll(async () => {
      underTest = await setUp();
    });
    beforeEach(() => {
      ({ errors, counters } = underTest.open());
      agent = `agent-${++agents}`;
    });
    afterAll(async () => {
      await underTest.close?.();
    });

    const pagesOf = async (limit: number, maxErrors = 1000, of = agent) => {
      const pages: string[][] = [];
      let after: string | undefined;
      do {
        const page = await errors.list({ agent: of, limit, after, maxErrors });
        pages.push(page.items.map(({ msg }) => msg));
        after = page.next;
      } while (after !== undefined);
      return pages;
    };

    test('what was recorded is listed as it was', async () => {
      const given = { where: 'digest', msg: 'boom', stack: 'at x', sessionId: 's1', runId: 'r1' };
      const entry = await errors.record(agent, given, { at, maxErrors: 10 });

      expect(entry).toEqual({ id: entry.id, ts: at, ...given });
      expect(await errors.list({ agent, limit: 10, maxErrors: 10 })).toEqual({
        items: [entry],
        next: undefined,
      });
      expect(await pagesOf(10, 10, `${agent}0`)).toEqual([[]]);
    });

    test('is newest first, also within a millisecond of one writer, in pages that add up', async () => {
      for (let index = 0; index < 20; index++)
        await errors.record(
          agent,
          { where: 'w', msg: `${index}` },
          { at: new Date(at.getTime() + Math.floor(index / 4)), maxErrors: 1000 },
        );

      const newestFirst = Array.from({ length: 20 }, (_, index) => `${19 - index}`);
      for (const limit of [1, 3, 10, 20, 1000]) {
        const pages = await pagesOf(limit);
        expect(pages.flat()).toEqual(newestFirst);
        expect(pages).toHaveLength(Math.ceil(20 / Math.min(limit, 20)));
      }
    });

    test('many writers at one moment lose none', async () => {
      const logs = Array.from({ length: 5 }, () => underTest.open().errors);
      await Promise.all(
        logs.flatMap((log, writer) =>
          Array.from({ length: 10 }, (_, index) =>
            log.record(agent, { where: 'w', msg: `${writer}/${index}` }, { at, maxErrors: 1000 }),
          ),
        ),
      );

      expect(new Set((await pagesOf(7)).flat()).size).toBe(50);
    });

    test('rolls: only the newest are there, on all pages together', async () => {
      for (let index = 0; index < 100; index++)
        await errors.record(
          agent,
          { where: 'w', msg: `${index}` },
          { at: new Date(at.getTime() + index), maxErrors: 5 },
        );

      expect(await pagesOf(2, 5)).toEqual([['99', '98'], ['97', '96'], ['95']]);
      expect(await pagesOf(5, 5)).toEqual([['99', '98', '97', '96', '95']]);
      expect((await pagesOf(1000, 1000)).flat().length).toBeLessThan(100);
    });

    test('of a host 48 hours ahead, the errors are newest only until others come', async () => {
      const [ahead, right] = [underTest.open().errors, underTest.open().errors];
      const hour = 60 * 60 * 1000;
      const timeOf = (index: number) => new Date(at.getTime() + index * 1000);
      for (let index = 0; index < 20; index++)
        await ahead.record(
          agent,
          { where: 'w', msg: `ahead ${index}` },
          { at: new Date(timeOf(index).getTime() + 48 * hour), maxErrors: 1000 },
        );
      for (let index = 0; index < 40; index++)
        await right.record(agent, { where: 'w', msg: `${index}` }, { at: timeOf(index), maxErrors: 1000 });

      const newestFirst = Array.from({ length: 40 }, (_, index) => `${39 - index}`);
      expect((await pagesOf(7, 20)).flat()).toEqual(newestFirst.slice(0, 20));
      expect((await pagesOf(100)).flat().slice(0, 41)).toEqual([...newestFirst, 'ahead 19']);
      const { items } = await errors.list({ agent, limit: 1, maxErrors: 1000 });
      expect(items[0]?.ts).toEqual(timeOf(39));
    });

    test.each([-48, 48, -1])(
      'a clock that is set by %d hours between two errors changes no order',
      async (hours) => {
        const later = new Date(at.getTime() + hours * 60 * 60 * 1000);
        const times = [at, at, later, later, at, later, at];
        for (const [index, time] of times.entries())
          await errors.record(agent, { where: 'w', msg: `${index}` }, { at: time, maxErrors: 1000 });

        expect((await pagesOf(3)).flat()).toEqual(['6', '5', '4', '3', '2', '1', '0']);
      },
    );

    test('of two hosts by turns, one of them days ahead, none is pushed out by the other’s clock', async () => {
      const logs = [underTest.open().errors, underTest.open().errors];
      const minute = 60 * 1000;
      for (let index = 0; index < 30; index++) {
        // By turns, more than the time between two looks apart.
        const time = at.getTime() + index * 2 * minute + (index % 2 === 0 ? 48 * 60 * minute : 0);
        await logs[index % 2]?.record(
          agent,
          { where: 'w', msg: `${index}` },
          { at: new Date(time), maxErrors: 10 },
        );
      }

      const lastTen = Array.from({ length: 10 }, (_, index) => `${29 - index}`);
      expect((await pagesOf(4, 10)).flat()).toEqual(lastTen);
    });

    test('a text of 600 KB is cut to fit', async () => {
      const msg = `${'x'.repeat(1_998)}🔑${'y'.repeat(600_000)}`;
      const entry = await errors.record(agent, { where: 'w', msg, stack: msg }, { at, maxErrors: 10 });

      expect(entry.msg.length).toBe(2_000);
      expect(entry.msg.isWellFormed()).toBe(true);
      expect((await errors.list({ agent, limit: 1, maxErrors: 10 })).items).toEqual([entry]);
    });

    test('refuses a mangled cursor', async () => {
      await expect(errors.list({ agent, limit: 1, after: 'x', maxErrors: 10 })).rejects.toMatchObject({
        code: 'invalid_input',
        field: 'after',
      });
    });

    test('counters start at 0, and lose no addition', async () => {
      const values = await Promise.all(Array.from({ length: 50 }, () => counters.bump(agent, 'runs/a', 2)));

      expect(await counters.get(agent, 'runs/a')).toBe(100);
      expect(new Set(values).size).toBe(50);
      expect(await counters.bump(agent, 'runs/a', -1)).toBe(99);
      expect(await counters.get(agent, 'runs')).toBe(0);
      expect(await counters.get(`${agent}/runs`, 'a')).toBe(0);
    });
  });
}
