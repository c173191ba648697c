import { describe, expect, test } from 'vitest';
import { describeSchedule } from '../../../lib/schedules/describe-schedule.ts';
import { scheduleDescriptor } from '../../../lib/schedules/schedule-descriptor.ts';

describe('the plain-English reading', () => {
  test.each([
    ['0 2 * * *', 'At 02:00 (UTC)'],
    ['30 9 * * MON-FRI', 'At 09:30, Monday through Friday (UTC)'],
    ['0 0 * * 7', 'At 00:00, only on Sunday (UTC)'],
    ['0 0 * * 0-7', 'At 00:00 (UTC)'],
    ['*/60 * * * *', 'Every hour (UTC)'],
    ['4 2-23/24 * * *', 'At 02:04 (UTC)'],
    ['*/15 9-17 * * 1-5', 'Every 15 minutes, between 09:00 and 17:59, Monday through Friday (UTC)'],
    ['0 0 13 * 5', 'At 00:00, on day 13 of the month; and at 00:00, only on Friday (UTC)'],
    ['@monthly', 'At 00:00, on day 1 of the month (UTC)'],
    ['cron(15 10 ? * 6L 2019-2022)', 'At 10:15, on the last Friday of the month, 2019 through 2022 (UTC)'],
    ['cron(0 9 ? * 2#1 *)', 'At 09:00, on the first Monday of the month (UTC)'],
    ['cron(0 9 15W * ? *)', 'At 09:00, on the weekday nearest day 15 of the month (UTC)'],
    ['at(2030-01-31T09:00:00)', 'Once, at 2030-01-31 09:00:00 (UTC)'],
    ['rate(1 hour)', 'Every hour, counted from its deployment'],
    ['rate(5 minutes)', 'Every 5 minutes, counted from its deployment'],
  ])('of %s', (cron, expected) => {
    expect(describeSchedule(scheduleDescriptor('s', cron, 'a'))).toBe(expected);
  });

  test('names the time zone', () => {
    const descriptor = scheduleDescriptor('s', '30 9 * * *', 'a', { timezone: 'Europe/Paris' });

    expect(describeSchedule(descriptor)).toBe('At 09:30 (Europe/Paris)');
  });
});
