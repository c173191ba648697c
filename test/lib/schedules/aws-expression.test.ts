import { describe, expect, test } from 'vitest';
import { InvalidScheduleError } from '../../../lib/schedules/invalid-schedule-error.ts';
import { scheduleDescriptor } from '../../../lib/schedules/schedule-descriptor.ts';
import { toEventBridge } from '../../../lib/schedules/to-event-bridge.ts';

function refusedField(cron: string): string | undefined {
  try {
    scheduleDescriptor('s', cron, 'a');
    return undefined;
  } catch (error) {
    return error instanceof InvalidScheduleError ? error.field : `a ${error}`;
  }
}

describe('an expression in AWS form', () => {
  test.each([
    'rate(1 minute)',
    'rate(2 minutes)',
    'rate(1 hour)',
    'rate(365 days)',
    'cron(0 0 * * ? *)',
    'cron(*/59 0/23 1/31 JAN-MAR/2 ? 2027/2)',
    'cron(0 20-2 ? * FRI-MON *)',
    'cron(0 0 ? * MON,WED-FRI *)',
    'cron(0 0 29 2 ? 2027-2028)',
    'at(2028-02-29T23:59:59)',
  ])('%s passes through', (expression) => {
    expect(toEventBridge(scheduleDescriptor('s', ` ${expression} `, 'a')).expressions).toEqual([expression]);
  });

  test.each([
    'rate(1 minutes)',
    'rate(3 minute)',
    'rate(0 minutes)',
    'rate(-1 minutes)',
    'rate(1.5 hours)',
    'rate(05 minutes)',
    'rate(5  minutes)',
    'rate(5minutes)',
    'rate(1 week)',
    'rate(30 seconds)',
    'rate()',
    'rate(5 minutes',
    'Rate(5 minutes)',
    'rate (5 minutes)',
    'at(2027-02-29T00:00:00)',
    'at(2027-02-28T24:00:00)',
    'at(2027-02-28)',
    'at(2027-02-28T00:00:00Z)',
    'cron(0 0 * * ?)',
    'cron(0  0 * * ? *)',
    'cron(5, 0, 1, *, ?, *)',
    'CRON(0 0 * * ? *)',
    `cron(${Array.from({ length: 60 }, (_, minute) => minute)} ${Array(24).fill(0)} ${Array(31).fill(1)} * ? *)`,
  ])('%s is refused as a whole', (expression) => {
    expect(refusedField(expression)).toBe(expression.startsWith('cron(5,') ? 'minute' : 'cron');
  });

  test.each([
    ['cron(24 30 09 ? * * *)', 'second'],
    ['cron(60 0 * * ? *)', 'minute'],
    ['cron(*/60 * * * ? *)', 'minute'],
    ['cron(? 0 * * ? *)', 'minute'],
    ['cron(0 24 * * ? *)', 'hour'],
    ['cron(0 [00-23] ? * * *)', 'hour'],
    ['cron(0 0 0 * ? *)', 'dayOfMonth'],
    ['cron(0 0 32W * ? *)', 'dayOfMonth'],
    ['cron(0 0 L-3 * ? *)', 'dayOfMonth'],
    ['cron(0 0 1,L * ? *)', 'dayOfMonth'],
    ['cron(0 0 31 2 ? *)', 'dayOfMonth'],
    ['cron(0 0 29 2 ? 2027)', 'dayOfMonth'],
    ['cron(0 0 1 13 ? *)', 'month'],
    ['cron(0 0 * * * *)', 'dayOfWeek'],
    ['cron(0 0 ? * ? *)', 'dayOfWeek'],
    ['cron(0 0 1 * MON *)', 'dayOfWeek'],
    ['cron(0 0 ? * 0 *)', 'dayOfWeek'],
    ['cron(0 0 ? * 8 *)', 'dayOfWeek'],
    ['cron(0 0 ? * 2/2 *)', 'dayOfWeek'],
    ['cron(0 0 ? * MON#6 *)', 'dayOfWeek'],
    ['cron(0 0 ? * MON#1,MON#3 *)', 'dayOfWeek'],
    ['cron(0 0 ? * MON-FRI#1 *)', 'dayOfWeek'],
    ['cron(0 0 ? 2 MON#5 2027)', 'dayOfWeek'],
    ['cron(0 0 * * ? 1969)', 'year'],
    ['cron(0 0 * * ? 2030-2027)', 'year'],
  ])('%s is refused, naming the field %s', (expression, field) => {
    expect(refusedField(expression)).toBe(field);
  });
});
