import { toString as readCron } from 'cronstrue';
import { parseSchedule } from './parse-schedule.ts';
import type { ScheduleDescriptor } from './schedule-descriptor.ts';

/**
 * What a schedule says, in plain English, with its time zone.
 *
 * @throws InvalidScheduleError as `scheduleDescriptor`
 * @example
 * describeSchedule(scheduleDescriptor('digest', '30 9 * * MON-FRI', 'send-digest')); // 'At 09:30, Monday through Friday (UTC)'
 */
export function describeSchedule(descriptor: ScheduleDescriptor): string {
  const { expressions, wallTimes } = parseSchedule(descriptor.cron);
  const [first = '', ...more] = expressions.map(readExpression);
  const reading = [first, ...more.map((other) => other.charAt(0).toLowerCase() + other.slice(1))].join(
    '; and ',
  );
  return wallTimes === undefined ? reading : `${reading} (${descriptor.timezone ?? 'UTC'})`;
}

/** The AWS expressions are read, not what was written: they are checked, and say nothing twice. */
function readExpression(expression: string): string {
  const body = expression.slice(expression.indexOf('(') + 1, -1);
  if (expression.startsWith('rate(')) return `Every ${body.replace(/^1 /, '')}, counted from its deployment`;
  if (expression.startsWith('at(')) return `Once, at ${body.replace('T', ' ')}`;
  return readCron(`0 ${body}`, { use24HourTimeFormat: true, dayOfWeekStartIndexZero: false });
}
