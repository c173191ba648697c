import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { InvalidScheduleError } from '../../../lib/schedules/invalid-schedule-error.ts';
import { nextFireTimes } from '../../../lib/schedules/next-fire-times.ts';
import { type ScheduleDescriptor, scheduleDescriptor } from '../../../lib/schedules/schedule-descriptor.ts';
import { toEventBridge } from '../../../lib/schedules/to-event-bridge.ts';
import {
  awsOracle,
  type CronOracle,
  cronerOracle,
  firingDays,
  firingTimes,
  unionOf,
} from '../../support/cron-oracles.ts';
import { describeWithShared, sharedPath } from '../../support/shared-data.ts';

const dayMs = 24 * 60 * 60 * 1000;
const from = Date.UTC(2027, 0, 1);
const until = Date.UTC(2031, 0, 1);

const rowsOf = (path: string) =>
  readFileSync(sharedPath(path), 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => line.split('\t'));

function tryDescriptor(cron: string): ScheduleDescriptor | InvalidScheduleError {
  try {
    return scheduleDescriptor('s', cron, 'a');
  } catch (error) {
    if (error instanceof InvalidScheduleError) return error;
    throw error;
  }
}

/** What the list itself says of a line that is no cron, never fires, or is more than one cron. */
const isRefusedNote = (note: string) =>
  /not (part of )?unix|not one expression|never-fires|invalid/.test(note);

/** The days of croner's reading, by the three fields that decide them: most lines share theirs. */
const knownDays = new Map<string, number[]>();

function cronerDays(cron: string): number[] {
  const days = cron.startsWith('@') ? cron : `0 0 ${cron.trim().split(/\s+/).slice(2).join(' ')}`;
  const known = knownDays.get(days) ?? firingDays(cronerOracle(days), from, until);
  knownDays.set(days, known);
  return known;
}

const timesOn = (oracle: CronOracle, day: number) => firingTimes(oracle, day, day + dayMs);

describeWithShared('cron/unix.tsv', 'crontabs found in public', () => {
  const lines = rowsOf('cron/unix.tsv').map(([cron = '', , note = '']) => ({ cron, note }));
  const refusedLines = lines.filter(({ cron, note }) => isRefusedNote(note) || cron === '@reboot');
  const takenLines = lines.filter((line) => !refusedLines.includes(line));

  test('the list is there', () => {
    expect(lines.length).toBeGreaterThanOrEqual(214);
    expect(refusedLines.length).toBeLessThan(25);
  });

  test.each(refusedLines)('$cron is refused: $note', ({ cron }) => {
    expect(tryDescriptor(cron)).toBeInstanceOf(InvalidScheduleError);
  });

  // A cron fires at the same times of day on each of its days, so all days and two days' times are all of it.
  test.each(takenLines)('$cron fires at the same instants over four years', ({ cron }) => {
    const cronByCroner = cronerOracle(cron);
    const cronByAws = unionOf(toEventBridge(scheduleDescriptor('s', cron, 'a')).expressions.map(awsOracle));

    const days = firingDays(cronByAws, from, until);

    expect(days).toEqual(cronerDays(cron));
    for (const day of [days[0] ?? from, days.at(-1) ?? from]) {
      expect(timesOn(cronByAws, day)).toEqual(timesOn(cronByCroner, day));
    }
  });
});

describeWithShared('cron/unix-next-runs.tsv', 'the next five runs of crontabs found in public', () => {
  const notes = new Map(rowsOf('cron/unix.tsv').map(([cron = '', , note = '']) => [cron, note]));
  const lines = rowsOf('cron/unix-next-runs.tsv').map(([cron = '', croner = '', cronParser = '']) => ({
    cron,
    croner,
    cronParser,
  }));
  const timesIn = (runs: string) => (/^(reject|never)$/.test(runs) ? undefined : runs);

  test.each(lines)('$cron', ({ cron, croner, cronParser }) => {
    // They agree but for what only one of them takes: `5/2` and H (cron-parser, and H is refused here), nicknames and
    // a value named twice (croner).
    const expected = isRefusedNote(notes.get(cron) ?? '')
      ? undefined
      : (timesIn(croner) ?? timesIn(cronParser));
    const descriptor = tryDescriptor(cron);

    const times =
      descriptor instanceof InvalidScheduleError
        ? undefined
        : nextFireTimes(descriptor, new Date('2026-01-01T00:00:00Z'), 5);

    expect(times?.map((time) => time.toISOString().replace(':00.000Z', 'Z')).join(',')).toBe(expected);
  });

  test('the two oracles differ nowhere else', () => {
    const differing = lines.filter(({ croner, cronParser }) => timesIn(croner) !== timesIn(cronParser));

    for (const { cron, croner, cronParser } of differing) {
      expect([timesIn(croner), timesIn(cronParser)], cron).toContain(undefined);
    }
  });
});

describeWithShared('cron/aws.tsv', 'AWS expressions found in public', () => {
  const lines = rowsOf('cron/aws.tsv').map(([expression = '', , meaning = '', unix = '']) => ({
    expression,
    meaning,
    unix,
  }));
  const refusedLines = lines.filter(({ unix }) => unix === 'reject');
  const takenLines = lines.filter(({ unix }) => unix !== 'reject');
  const sameAsUnix = takenLines.filter(
    ({ expression, unix }) => unix !== '-' && expression.startsWith('cron('),
  );

  test.each(refusedLines)('$expression is refused: $meaning', ({ expression }) => {
    expect(tryDescriptor(expression)).toBeInstanceOf(InvalidScheduleError);
  });

  test.each(takenLines)('$expression passes through', ({ expression }) => {
    expect(toEventBridge(scheduleDescriptor('s', expression, 'a')).expressions).toEqual([expression]);
  });

  test.each(sameAsUnix)('$expression fires as $unix', ({ expression, unix }) => {
    const after = new Date('2027-12-30T12:34:56Z');
    const oracle = cronerOracle(unix);
    const expected: number[] = [];
    for (let time = after.getTime(); expected.length < 100; expected.push(time)) {
      time = oracle.next(time) ?? Number.NaN;
    }

    const times = nextFireTimes(scheduleDescriptor('s', expression, 'a'), after, 100);

    expect(times.map(Number)).toEqual(expected);
  });
});

describe('what neither list holds', () => {
  test('croner ORs the day fields also where cron ANDs them, so such lines have no oracle and are refused', () => {
    expect(new Date(cronerOracle('0 0 */2 * 1').next(from) ?? 0).toISOString()).toBe(
      '2027-01-03T00:00:00.000Z',
    );
    expect(tryDescriptor('0 0 */2 * 1')).toBeInstanceOf(InvalidScheduleError);
  });
});
