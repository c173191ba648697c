import awsCron from 'aws-cron-parser';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { InvalidScheduleError } from '../../../lib/schedules/invalid-schedule-error.ts';
import { nextFireTimes } from '../../../lib/schedules/next-fire-times.ts';
import { scheduleDescriptor } from '../../../lib/schedules/schedule-descriptor.ts';
import { toEventBridge } from '../../../lib/schedules/to-event-bridge.ts';
import { awsOracle, type CronOracle, cronerOracle, unionOf } from '../../support/cron-oracles.ts';
import { dayRuleOf, firesOnDay, type KnownCron, knownCron } from '../../support/random-cron.ts';

const dayMs = 24 * 60 * 60 * 1000;
const minuteMs = 60 * 1000;
const from = Date.UTC(2027, 0, 1);
const until = Date.UTC(2031, 0, 1);
const midnights = Array.from({ length: (until - from) / dayMs }, (_, index) => from + index * dayMs);

/** Overnight and before a release many more: DORMOUSE_CRON_RUNS=10000. */
const numRuns = Number(process.env.DORMOUSE_CRON_RUNS ?? 500);
const timeoutMs = 30_000 + numRuns * 20;

const ascending = (values: Iterable<number>) => [...new Set(values)].sort((a, b) => a - b);

const firingDaysOf = (cron: KnownCron) => midnights.filter((midnight) => firesOnDay(cron, midnight));

/** The first `count` instants after one, told from how the expression was made. */
function knownTimes(cron: KnownCron, after: number, count: number): number[] {
  const times: number[] = [];
  for (let midnight = after - (after % dayMs); times.length < count; midnight += dayMs) {
    if (!firesOnDay(cron, midnight)) continue;
    for (const hour of ascending(cron.hour.values)) {
      for (const minute of ascending(cron.minute.values)) {
        const time = midnight + (hour * 60 + minute) * minuteMs;
        if (time > after && times.length < count) times.push(time);
      }
    }
  }
  return times;
}

function timesBy(oracle: CronOracle, after: number, count: number): (number | undefined)[] {
  const times: (number | undefined)[] = [];
  for (let time: number | undefined = after; times.length < count && time !== undefined; times.push(time)) {
    time = oracle.next(time);
  }
  return times;
}

/** All four years by the oracle's own reading of the fields, which is faster than asking it for each instant. */
function awsReading(expressions: readonly string[]) {
  const read = expressions.map((expression) => awsCron.parse(expression.slice(5, -1)));
  const fires = (parsed: (typeof read)[number], midnight: number) => {
    const date = new Date(midnight);
    const has = (values: readonly unknown[], value: number) => values.includes(value);
    return (
      has(parsed.months, date.getUTCMonth() + 1) &&
      (has(parsed.daysOfMonth, date.getUTCDate()) || has(parsed.daysOfWeek, date.getUTCDay() + 1))
    );
  };
  return {
    days: midnights.filter((midnight) => read.some((parsed) => fires(parsed, midnight))),
    minutes: read.map((parsed) => ascending(parsed.minutes as number[])),
    hours: read.map((parsed) => ascending(parsed.hours as number[])),
  };
}

/** croner takes no range that wraps, and ORs the day fields whatever they begin with. */
function cronerAgrees({ minute, hour, dayOfMonth, month, dayOfWeek }: KnownCron): boolean {
  const odd = ({ text }: { text: string }) => text.startsWith('*') && text !== '*';
  const sameDays = dayOfMonth.text === '*' || dayOfWeek.text === '*' || !(odd(dayOfMonth) || odd(dayOfWeek));
  return sameDays && ![minute, hour, dayOfMonth, month, dayOfWeek].some(({ wraps }) => wraps);
}

describe('any five-field cron', () => {
  test('is refused, or fires in AWS form at exactly the instants that it means', {
    timeout: timeoutMs,
  }, () => {
    const instant = fc.integer({ min: from / 1000, max: until / 1000 }).map((seconds) => seconds * 1000);
    const outcomes = { exact: 0, refused: 0, byCroner: 0 };

    fc.assert(
      fc.property(knownCron, instant, (cron, after) => {
        const days = firingDaysOf(cron);
        const make = () => scheduleDescriptor('s', cron.text, 'a');
        if (dayRuleOf(cron) === 'inexpressible' || days.length === 0) {
          outcomes.refused++;
          expect(make).toThrow(InvalidScheduleError);
          return;
        }
        const descriptor = make();
        const { expressions } = toEventBridge(descriptor);
        const reading = awsReading(expressions);
        const times = knownTimes(cron, after, 10);

        expect(reading.days).toEqual(days);
        for (const minutes of reading.minutes) expect(minutes).toEqual(ascending(cron.minute.values));
        for (const hours of reading.hours) expect(hours).toEqual(ascending(cron.hour.values));
        expect(timesBy(unionOf(expressions.map(awsOracle)), after, 10)).toEqual(times);
        expect(nextFireTimes(descriptor, new Date(after), 10).map(Number)).toEqual(times);
        outcomes.exact++;
        if (cronerAgrees(cron)) {
          outcomes.byCroner++;
          expect(timesBy(cronerOracle(cron.text), after, 10)).toEqual(times);
        }
        for (const expression of expressions) {
          expect(expression).toMatch(/^cron\(\S+ \S+ (\? \S+ [^?\s]+|[^?\s]+ \S+ \?) \*\)$/);
          expect(scheduleDescriptor('s', expression, 'a').cron).toBe(expression);
        }
      }),
      { numRuns },
    );

    expect(outcomes.exact).toBeGreaterThan(numRuns / 2);
    expect(outcomes.byCroner).toBeGreaterThan(numRuns / 5);
    expect(outcomes.refused).toBeGreaterThan(0);
  });

  test('and any other text, makes a schedule or an InvalidScheduleError', () => {
    const letters = fc.constantFrom(...'0123456789*,-/?LW# @()JANMONcronrate');
    const text = fc.oneof(fc.string(), fc.string({ unit: letters, maxLength: 40 }));

    fc.assert(
      fc.property(text, (cron) => {
        try {
          const descriptor = scheduleDescriptor('s', cron, 'a');
          expect(toEventBridge(descriptor).expressions.length).toBeGreaterThan(0);
        } catch (error) {
          expect(error).toBeInstanceOf(InvalidScheduleError);
        }
      }),
      { numRuns },
    );
  });
});
