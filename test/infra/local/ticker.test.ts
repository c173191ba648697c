import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { startTicker } from '../../../infra/local/ticker.ts';
import { defineAgent } from '../../../lib/agents/define-agent.ts';
import { scheduleDescriptor } from '../../../lib/schedules/schedule-descriptor.ts';

const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;
const started = { started: 1, duplicate: 0, skipped: 0 };

const printed: string[] = [];
const logged: string[] = [];
const tickers: { close(): void }[] = [];
beforeEach(() => {
  vi.useFakeTimers();
  vi.setSystemTime('2027-01-01T00:00:30.000Z');
  vi.spyOn(console, 'error').mockImplementation((line) => void printed.push(line));
});
afterEach(() => {
  for (const ticker of tickers.splice(0)) ticker.close();
  expect(vi.getTimerCount()).toBe(0);
  vi.useRealTimers();
  vi.restoreAllMocks();
  printed.length = 0;
  logged.length = 0;
});

/** What is fired, as `schedule at`, while schedules of one agent tick. */
function ticking(
  crons: Readonly<Record<string, string | { cron: string; timezone: string }>>,
  outcome: () => Promise<typeof started> = async () => started,
) {
  const agent = defineAgent({
    name: 'support',
    actions: { digest: () => null },
    schedules: Object.entries(crons).map(([name, given]) => {
      const { cron, ...options } = typeof given === 'string' ? { cron: given } : given;
      return scheduleDescriptor(name, cron, 'digest', options);
    }),
  });
  const fired: string[] = [];
  const ticker = startTicker({
    agents: [agent],
    log: (line) => void logged.push(line),
    fire: (_agent, { name }, at) => {
      fired.push(`${name} ${at.toISOString()}`);
      return outcome();
    },
  });
  tickers.push(ticker);
  return { fired, ticker };
}

describe('schedules', () => {
  it('fire at their times, each with the time at which it was due', async () => {
    const { fired } = ticking({
      minutely: '* * * * *',
      morning: { cron: '2 9 * * *', timezone: 'Asia/Tokyo' },
      often: 'rate(2 minutes)',
    });

    await vi.advanceTimersByTimeAsync(29_999);
    expect(fired).toEqual([]);
    await vi.advanceTimersByTimeAsync(1);
    expect(fired).toEqual(['minutely 2027-01-01T00:01:00.000Z']);
    await vi.advanceTimersByTimeAsync(4 * minuteMs);

    expect(fired.slice(1)).toEqual([
      'minutely 2027-01-01T00:02:00.000Z',
      'morning 2027-01-01T00:02:00.000Z',
      'often 2027-01-01T00:02:30.000Z',
      'minutely 2027-01-01T00:03:00.000Z',
      'minutely 2027-01-01T00:04:00.000Z',
      'often 2027-01-01T00:04:30.000Z',
      'minutely 2027-01-01T00:05:00.000Z',
    ]);
  });

  it('fire that are further away than any timer reaches, and once only where they have one time', async () => {
    const { fired } = ticking({ yearly: '0 0 28 1 *', launch: 'at(2027-01-27T12:00:00)' });

    await vi.advanceTimersByTimeAsync(30 * dayMs);

    expect(fired).toEqual(['launch 2027-01-27T12:00:00.000Z', 'yearly 2027-01-28T00:00:00.000Z']);
  });

  it('that were slept through fire once, late, and then on time again', async () => {
    const { fired } = ticking({ minutely: '* * * * *' });

    vi.setSystemTime('2027-01-01T08:00:00.500Z');
    await vi.advanceTimersByTimeAsync(minuteMs / 2);
    expect(fired).toEqual(['minutely 2027-01-01T00:01:00.000Z']);
    await vi.advanceTimersByTimeAsync(minuteMs);

    expect(fired.slice(1)).toEqual(['minutely 2027-01-01T08:01:00.000Z']);
  });

  it('are late by a minute at the most after a sleep, however far away they were', async () => {
    const { fired } = ticking({ noon: '0 12 * * *' });

    vi.setSystemTime('2027-01-01T14:00:00Z');
    await vi.advanceTimersByTimeAsync(minuteMs);

    expect(fired).toEqual(['noon 2027-01-01T12:00:00.000Z']);
  });

  it('follow a clock that is set back', async () => {
    vi.setSystemTime('2030-01-01T00:00:30Z');
    const { fired } = ticking({ minutely: '* * * * *' });

    vi.setSystemTime('2027-01-01T00:00:00Z');
    await vi.advanceTimersByTimeAsync(2 * minuteMs);

    expect(fired).toEqual(['minutely 2027-01-01T00:01:00.000Z', 'minutely 2027-01-01T00:02:00.000Z']);
  });

  // The timer is set for 00:01: what the clock shows then, after it was set back by whole hours and some seconds.
  it.each([
    ['before a minute', '2026-12-31T22:00:59.500Z', 'T22:01:00.000Z', 'T22:02:00.000Z'],
    ['at a minute', '2026-12-31T22:01:00.000Z', 'T22:01:00.000Z', 'T22:02:00.000Z'],
    ['just after a minute', '2026-12-31T22:01:00.004Z', 'T22:01:00.000Z', 'T22:02:00.000Z'],
  ])('skip no minute when a clock was set back by two hours, seen %s', async (_when, seen, ...due) => {
    const { fired } = ticking({ minutely: '* * * * *' });

    vi.setSystemTime(Date.parse(seen) - minuteMs / 2);
    await vi.advanceTimersByTimeAsync(minuteMs / 2 + 500);
    expect(fired).toEqual([`minutely 2026-12-31${due[0]}`]);
    await vi.advanceTimersByTimeAsync(minuteMs);

    expect(fired.slice(1)).toEqual([`minutely 2026-12-31${due[1]}`]);
  });

  it('come again under the same times where the clock shows them again', async () => {
    const { fired } = ticking({ minutely: '* * * * *' });
    await vi.advanceTimersByTimeAsync(2 * minuteMs);

    vi.setSystemTime('2027-01-01T00:00:30Z');
    await vi.advanceTimersByTimeAsync(2 * minuteMs);

    const times = ['2027-01-01T00:01:00.000Z', '2027-01-01T00:02:00.000Z'];
    expect(fired).toEqual([...times, ...times].map((time) => `minutely ${time}`));
  });

  it.each([-2 * 60, 2 * 60])('at a rate keep firing when the clock is set by %i minutes', async (minutes) => {
    const { fired } = ticking({ often: 'rate(5 minutes)' });
    await vi.advanceTimersByTimeAsync(12 * minuteMs);
    expect(fired).toHaveLength(2);

    vi.setSystemTime(Date.now() + minutes * minuteMs);
    await vi.advanceTimersByTimeAsync(13 * minuteMs);

    const tickOf = (line: string | undefined) => Date.parse(line?.slice('often '.length) ?? '');
    const last = fired.slice(-2).map(tickOf);
    expect(last).toEqual([(last[1] ?? 0) - 5 * minuteMs, last[1]]);
    expect(Date.now() - (last[1] ?? 0)).toBeLessThan(5 * minuteMs);
  });

  it('that are over are told once, at the start', async () => {
    ticking({ past: 'cron(0 0 1 1 ? 2026)', launch: 'at(2026-12-31T23:59:00)', minutely: '* * * * *' });

    await vi.advanceTimersByTimeAsync(3 * minuteMs);

    expect(logged.filter((line) => line.includes('is over'))).toEqual([
      "Schedule 'past' of 'support' is over: it does not fire any more",
      "Schedule 'launch' of 'support' is over: it does not fire any more",
    ]);
  });

  it('that have ended do not fire, and none does after the end of the ticker', async () => {
    const { fired, ticker } = ticking({ past: 'cron(0 0 1 1 ? 2026)', minutely: '* * * * *' });

    ticker.close();
    await vi.advanceTimersByTimeAsync(dayMs);

    expect(fired).toEqual([]);
  });
});

describe('a tick that cannot be delivered', () => {
  it('is tried again under the same time, and said in one line', async () => {
    let failures = 2;
    const { fired } = ticking({ hourly: '1 * * * *' }, async () => {
      if (failures-- > 0) throw new Error('the table\nis away');
      return started;
    });

    await vi.advanceTimersByTimeAsync(10 * minuteMs);

    expect(fired).toEqual(Array(3).fill('hourly 2027-01-01T00:01:00.000Z'));
    expect(printed).toHaveLength(2);
    expect(printed[0]).toBe(
      "dormouse: the schedule 'hourly' of 'support' failed to fire, and will be tried again: the table is away",
    );
  });

  it('is given up after a few times, and does not hold back the next one', async () => {
    const { fired } = ticking({ hourly: '1 * * * *' }, () => Promise.reject(new Error('away')));

    await vi.advanceTimersByTimeAsync(61 * minuteMs);

    expect(fired.map((line) => line.slice('hourly 2027-01-01T'.length))).toEqual([
      ...Array(4).fill('00:01:00.000Z'),
      ...Array(4).fill('01:01:00.000Z'),
    ]);
    expect(printed[3]).toBe("dormouse: the schedule 'hourly' of 'support' failed to fire: away");
  });

  it('is not tried again after the end of the ticker', async () => {
    const { fired, ticker } = ticking({ hourly: '1 * * * *' }, () => Promise.reject(new Error('away')));

    await vi.advanceTimersByTimeAsync(minuteMs / 2);
    ticker.close();
    await vi.advanceTimersByTimeAsync(10 * minuteMs);

    expect(fired).toHaveLength(1);
  });
});
