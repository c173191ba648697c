import { describe, expect, test } from 'vitest';
import { scheduleDescriptor } from '../../../lib/schedules/schedule-descriptor.ts';
import { toEventBridge } from '../../../lib/schedules/to-event-bridge.ts';

const expressionsOf = (cron: string) => toEventBridge(scheduleDescriptor('s', cron, 'a')).expressions;

describe('five-field cron in AWS form', () => {
  test.each([
    ['15 12 * * 0', 'cron(15 12 ? * 1 *)'],
    ['30 1,8 * * 0,1,4,5,6', 'cron(30 1,8 ? * 1,2,5,6,7 *)'],
    ['0 18 * * 1-5', 'cron(0 18 ? * 2-6 *)'],
    ['0 9-18 * * 1-5', 'cron(0 9-18 ? * 2-6 *)'],
    ['0 12 * * 6', 'cron(0 12 ? * 7 *)'],
  ])('counts weekdays from Sunday, 1: %s', (cron, expected) => {
    expect(expressionsOf(cron)).toEqual([expected]);
  });

  test.each([
    ['0 0 * * 7', 'cron(0 0 ? * 1 *)'],
    ['0 0 * * 5-7', 'cron(0 0 ? * 1,6,7 *)'],
    ['0 0 * * FRI-SUN', 'cron(0 0 ? * 1,6,7 *)'],
    ['0 0 * * 0-7', 'cron(0 0 * * ? *)'],
    ['0 0 * * 7-2', 'cron(0 0 ? * 1-3 *)'],
    ['0 0 * * 0,7', 'cron(0 0 ? * 1 *)'],
    ['0 8 * * FRI-MON', 'cron(0 8 ? * 1,2,6,7 *)'],
    ['0 22-2 * * *', 'cron(0 22,23,0,1,2 * * ? *)'],
    ['0 22-4/2 * * *', 'cron(0 22,0,2,4 * * ? *)'],
    ['0 0 1 NOV-FEB *', 'cron(0 0 1 11,12,1,2 ? *)'],
    ['0 0 30-2 * *', 'cron(0 0 30,31,1,2 * ? *)'],
  ])('takes 7 for Sunday and unrolls a range that wraps: %s', (cron, expected) => {
    expect(expressionsOf(cron)).toEqual([expected]);
  });

  test.each([
    ['0 0 * * *', ['cron(0 0 * * ? *)']],
    ['0 0 1,15 * 1', ['cron(0 0 1,15 * ? *)', 'cron(0 0 ? * 2 *)']],
    ['0 2 3 6 1', ['cron(0 2 3 6 ? *)', 'cron(0 2 ? 6 2 *)']],
    ['0 0 13 * 5', ['cron(0 0 13 * ? *)', 'cron(0 0 ? * 6 *)']],
    // Either is enough, and one of them is every day.
    ['0 0 1-31 * 1', ['cron(0 0 * * ? *)']],
    ['0 0 13 * 0-6', ['cron(0 0 * * ? *)']],
    // Both must suit, as one begins with *, and that one is every day.
    ['0 0 */1 * 1', ['cron(0 0 ? * 2 *)']],
    ['0 0 *,1 * 1,2', ['cron(0 0 ? * 2,3 *)']],
    ['0 0 13 * */1', ['cron(0 0 13 * ? *)']],
    // The date never comes, and AWS would refuse its expression; the weekday does.
    ['0 0 31 2 1', ['cron(0 0 ? 2 2 *)']],
  ])('splits where either day field is enough: %s', (cron, expected) => {
    expect(expressionsOf(cron)).toEqual(expected);
  });

  test.each([
    ['0 0 * * */2', 'cron(0 0 ? * 1,3,5,7 *)'],
    ['0 0 * * */7', 'cron(0 0 ? * 1 *)'],
    ['0 0 * * 1-5/2', 'cron(0 0 ? * 2,4,6 *)'],
    ['*/7 * * * *', 'cron(0/7 * * * ? *)'],
    ['0 */5 * * *', 'cron(0 0/5 * * ? *)'],
    ['0 0 */2 * *', 'cron(0 0 1/2 * ? *)'],
    ['0 0 1 */3 *', 'cron(0 0 1 1/3 ? *)'],
    ['0-15/5 8 * * *', 'cron(0-15/5 8 * * ? *)'],
    ['*/60 * * * *', 'cron(0 * * * ? *)'],
    ['4 2-23/24 * * *', 'cron(4 2 * * ? *)'],
    ['0 3/2 * * *', 'cron(0 3/2 * * ? *)'],
    ['5/1 * * * *', 'cron(5-59 * * * ? *)'],
    ['*/20,5 * * * *', 'cron(0,5,20,40 * * * ? *)'],
    ['*/1 */1 */1 */1 */1', 'cron(* * * * ? *)'],
  ])('keeps steps where AWS has them, and their phase: %s', (cron, expected) => {
    expect(expressionsOf(cron)).toEqual([expected]);
  });

  test.each([
    ['06 09-18 * * *', 'cron(6 9-18 * * ? *)'],
    ['09,39 * * * *', 'cron(9,39 * * * ? *)'],
    ['1-9,15-30 * * * *', 'cron(1-9,15-30 * * * ? *)'],
    ['30,5,10-12 * * * *', 'cron(5,10-12,30 * * * ? *)'],
    ['50-10/20,5 * * * *', 'cron(5,10,50 * * * ? *)'],
    ['0-30,20-40 * * * *', 'cron(0-40 * * * ? *)'],
    ['0 0 1 JAN,MAR *', 'cron(0 0 1 1,3 ? *)'],
    ['1 2 * apr mOn', 'cron(1 2 ? 4 2 *)'],
    ['  0\t0  29 2 * ', 'cron(0 0 29 2 ? *)'],
  ])('reads lists, ranges, names and zeros in front: %s', (cron, expected) => {
    expect(expressionsOf(cron)).toEqual([expected]);
  });

  test.each([
    ['@hourly', 'cron(0 * * * ? *)'],
    ['@daily', 'cron(0 0 * * ? *)'],
    ['@midnight', 'cron(0 0 * * ? *)'],
    ['@weekly', 'cron(0 0 ? * 1 *)'],
    ['@monthly', 'cron(0 0 1 * ? *)'],
    ['@yearly', 'cron(0 0 1 1 ? *)'],
    ['@annually', 'cron(0 0 1 1 ? *)'],
  ])('knows the nickname %s', (cron, expected) => {
    expect(expressionsOf(cron)).toEqual([expected]);
  });

  test('never exceeds the 256 characters of an expression', () => {
    const pairs = (from: number, to: number) =>
      Array.from({ length: to - from + 1 }, (_, index) => from + index).filter((n) => n % 3 !== 2);

    const [expression = ''] = expressionsOf(
      `${pairs(0, 59)} ${pairs(0, 23)} ${pairs(1, 31)} ${pairs(1, 12)} *`,
    );

    expect(expression).toMatch(/^cron\(0,1,3,4,.* \? \*\)$/);
    expect(expression.length).toBeLessThanOrEqual(256);
    const nearlyAll = Array.from({ length: 58 }, (_, index) => index);
    expect(expressionsOf(`${nearlyAll} ${pairs(0, 23)} ${pairs(1, 31)} ${pairs(1, 12)} *`)[0]).toMatch(
      /^cron\(0-57 /,
    );
  });
});

describe('where an expression goes', () => {
  test('rules are in UTC, whatever the host thinks of its own time zone', () => {
    const before = process.env.TZ;
    process.env.TZ = 'America/New_York';
    try {
      const descriptor = scheduleDescriptor('d', '30 9 * * *', 'x');

      expect(toEventBridge(descriptor)).toEqual({ expressions: ['cron(30 9 * * ? *)'], service: 'rules' });
    } finally {
      if (before === undefined) delete process.env.TZ;
      else process.env.TZ = before;
    }
  });

  test('a time zone or a single time is for EventBridge Scheduler', () => {
    const zoned = scheduleDescriptor('d', '30 9 * * *', 'x', { timezone: 'Europe/Paris' });
    const single = scheduleDescriptor('d', 'at(2030-01-31T09:00:00)', 'x');

    expect(toEventBridge(zoned)).toEqual({ expressions: ['cron(30 9 * * ? *)'], service: 'scheduler' });
    expect(toEventBridge(single)).toEqual({ expressions: ['at(2030-01-31T09:00:00)'], service: 'scheduler' });
  });
});
