import { describe, expect, test } from 'vitest';
import { nextFireTimes } from '../../../lib/schedules/next-fire-times.ts';
import { scheduleDescriptor } from '../../../lib/schedules/schedule-descriptor.ts';
import { awsOracle, type CronOracle, cronerOracle } from '../../support/cron-oracles.ts';

const timesOf = (cron: string, after: string, count: number, timezone?: string) =>
  nextFireTimes(scheduleDescriptor('s', cron, 'a', { timezone }), new Date(after), count).map((time) =>
    time.toISOString().replace(':00.000Z', 'Z'),
  );

describe('the next fire times', () => {
  test('come after the instant given, also when that is one of them', () => {
    expect(timesOf('0 2 * * *', '2027-01-01T02:00:00Z', 2)).toEqual([
      '2027-01-02T02:00Z',
      '2027-01-03T02:00Z',
    ]);
    expect(timesOf('0 2 * * *', '2027-01-01T01:59:59.999Z', 1)).toEqual(['2027-01-01T02:00Z']);
  });

  test('name an instant once that both day fields mean', () => {
    // 2027-02-01 and 2027-02-15 are Mondays.
    expect(timesOf('0 0 1,15 * 1', '2027-01-31T00:00:00Z', 4)).toEqual([
      '2027-02-01T00:00Z',
      '2027-02-08T00:00Z',
      '2027-02-15T00:00Z',
      '2027-02-22T00:00Z',
    ]);
  });

  test('reach over the years to a leap day', () => {
    expect(timesOf('0 0 29 2 *', '2096-03-01T00:00:00Z', 2)).toEqual([
      '2104-02-29T00:00Z',
      '2108-02-29T00:00Z',
    ]);
    expect(timesOf('cron(0 0 ? 2 SUN#5 *)', '2027-01-01T00:00:00Z', 2)).toEqual([
      '2032-02-29T00:00Z',
      '2060-02-29T00:00Z',
    ]);
  });

  test('end where the expression ends', () => {
    expect(timesOf('cron(0 0 1 1,7 ? 2030)', '2030-01-15T00:00:00Z', 3)).toEqual(['2030-07-01T00:00Z']);
    expect(timesOf('cron(15 10 ? * 6L 2019-2022)', '2027-01-01T00:00:00Z', 3)).toEqual([]);
    expect(timesOf('at(2030-01-31T09:00:00)', '2030-01-31T08:59:59Z', 3)).toEqual(['2030-01-31T09:00Z']);
    expect(timesOf('at(2030-01-31T09:00:00)', '2030-01-31T09:00:00Z', 3)).toEqual([]);
  });

  test('of a rate are not known', () => {
    expect(timesOf('rate(5 minutes)', '2027-01-01T00:00:00Z', 3)).toEqual([]);
  });

  test('are as many as asked for', () => {
    expect(timesOf('* * * * *', '2027-01-01T00:00:00Z', 0)).toEqual([]);
    expect(timesOf('* * * * *', '2027-01-01T00:00:00Z', 3_000)).toHaveLength(3_000);
  });
});

describe('the next fire times of what only AWS can say', () => {
  const isSame = (expression: string, oracle: CronOracle, count: number) => {
    const times = nextFireTimes(
      scheduleDescriptor('s', expression, 'a'),
      new Date('2027-01-01T00:00:00Z'),
      count,
    );
    const expected: number[] = [];
    for (let time: number | undefined = Date.UTC(2027, 0, 1); expected.length < count; ) {
      time = oracle.next(time);
      if (time === undefined) break;
      expected.push(time);
    }
    expect(times.map(Number)).toEqual(expected);
  };

  test.each([
    'cron(0 2 L * ? *)',
    'cron(0 9 15W * ? *)',
    'cron(0 9 1W * ? *)',
    'cron(0 9 28W * ? *)',
    'cron(15 10 ? * 6L *)',
    'cron(0 9 ? * 1L *)',
    'cron(0 9 ? * 2#1 *)',
    'cron(0 9 ? 1,6 7#4 2027-2030)',
    'cron(0 0/1 31,1,2 * ? *)',
  ])('%s is read as aws-cron-parser does', (expression) => {
    isSame(expression, awsOracle(expression), expression.includes('2030') ? 8 : 60);
  });

  test.each([
    ['cron(0 9 LW * ? *)', '0 9 LW * *'],
    ['cron(0 9 L * ? *)', '0 9 L * *'],
    ['cron(0 9 1W * ? *)', '0 9 1W * *'],
    ['cron(0 9 ? * 6L *)', '0 9 * * 5L'],
    ['cron(0 9 ? * FRI#5 *)', '0 9 * * 5#5'],
    ['cron(0 9 ? * L *)', '0 9 * * 6'],
    ['cron(0 20-2 ? * FRI-MON *)', '0 20-23,0-2 * * 5,6,0,1'],
    ['cron(* 0/1 * * ? *)', '* * * * *'],
  ])('%s is read as croner reads %s', (expression, cron) => {
    isSame(expression, cronerOracle(cron), 60);
  });
});

describe('the next fire times in a time zone', () => {
  test('follow its clock through summer and winter', () => {
    expect(timesOf('30 9 * * *', '2027-01-10T00:00:00Z', 1, 'Europe/Paris')).toEqual(['2027-01-10T08:30Z']);
    expect(timesOf('30 9 * * *', '2027-07-10T00:00:00Z', 1, 'Europe/Paris')).toEqual(['2027-07-10T07:30Z']);
    expect(timesOf('0 0 1 * *', '2027-01-10T00:00:00Z', 1, 'Asia/Kolkata')).toEqual(['2027-01-31T18:30Z']);
    expect(timesOf('at(2027-07-01T09:00:00)', '2027-01-01T00:00:00Z', 1, 'Europe/Paris')).toEqual([
      '2027-07-01T07:00Z',
    ]);
  });

  test('leave out a time that the clock skips', () => {
    expect(timesOf('30 2 * * *', '2027-03-27T00:00:00Z', 3, 'Europe/Paris')).toEqual([
      '2027-03-27T01:30Z',
      '2027-03-29T00:30Z',
      '2027-03-30T00:30Z',
    ]);
    expect(timesOf('*/30 * * * *', '2027-03-28T00:00:00Z', 3, 'Europe/Paris')).toEqual([
      '2027-03-28T00:30Z',
      '2027-03-28T01:00Z',
      '2027-03-28T01:30Z',
    ]);
  });

  test('hold a time that the clock shows twice only once, at the first', () => {
    const expected = ['2027-10-31T00:30Z', '2027-11-01T01:30Z'];
    expect(timesOf('30 2 * * *', '2027-10-31T00:00:00Z', 2, 'Europe/Paris')).toEqual(expected);
    expect(timesOf('30 2 * * *', '2027-10-31T00:45:00Z', 1, 'Europe/Paris')).toEqual(expected.slice(1));
    expect(timesOf('30 2 * * *', '2027-10-31T01:15:00Z', 1, 'Europe/Paris')).toEqual(expected.slice(1));
    // A clock that is set back by half an hour.
    expect(timesOf('45 1 * * *', '2027-04-03T00:00:00Z', 2, 'Australia/Lord_Howe')).toEqual([
      '2027-04-03T14:45Z',
      '2027-04-04T15:15Z',
    ]);
  });

  test('know a day that a place never had', () => {
    expect(timesOf('0 12 * * *', '2011-12-29T00:00:00Z', 3, 'Pacific/Apia')).toEqual([
      '2011-12-29T22:00Z',
      '2011-12-30T22:00Z',
      '2011-12-31T22:00Z',
    ]);
  });

  test('are those that the clock shows, at any time and place', () => {
    for (const timezone of ['America/New_York', 'Asia/Kathmandu', 'Pacific/Kiritimati', 'America/Santiago']) {
      const shown = new Intl.DateTimeFormat('en-GB', { timeZone: timezone, timeStyle: 'short' });
      const times = nextFireTimes(
        scheduleDescriptor('s', '15 4,17 * * *', 'a', { timezone }),
        new Date('2027-01-01T00:00:00Z'),
        4 * 365,
      );

      expect(new Set(times.map((time) => shown.format(time)))).toEqual(new Set(['04:15', '17:15']));
      expect(new Set(times.map(Number)).size).toBe(4 * 365);
      expect([...times].sort((a, b) => Number(a) - Number(b))).toEqual(times);
    }
  });
});
