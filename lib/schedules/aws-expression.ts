import { dateRule, weekdayRule } from './aws-day-rule.ts';
import { type Calendar, everFires, wallTimesOf } from './calendar.ts';
import { InvalidScheduleError } from './invalid-schedule-error.ts';
import { parseField } from './parse-field.ts';
import type { ParsedSchedule } from './parsed-schedule.ts';
import { expressionMaxChars } from './spell-aws-cron.ts';
import { awsFields } from './time-field.ts';

/** Whether it is meant to be `cron(...)`, `rate(...)` or `at(...)`. */
export function looksLikeAws(text: string): boolean {
  return /^(cron|rate|at)\s*\(/i.test(text);
}

/**
 * Checks an expression that is in AWS form already; it is passed on as it stands.
 *
 * @throws InvalidScheduleError naming the field, for what AWS would refuse and for what never fires
 */
export function parseAwsExpression(text: string): ParsedSchedule {
  if (text.length > expressionMaxChars) {
    throw new InvalidScheduleError(
      'cron',
      `is longer than the ${expressionMaxChars} characters that AWS takes`,
    );
  }
  const [, form, body = ''] = /^(cron|rate|at)\((.*)\)$/.exec(text) ?? [];
  if (form === 'cron') return parseAwsCron(text, body);
  if (form === 'rate') return parseRate(text, body);
  if (form === 'at') return parseAt(text, body);
  throw new InvalidScheduleError('cron', `'${text}' is not written as cron(...), rate(...) or at(...)`);
}

function parseAwsCron(text: string, body: string): ParsedSchedule {
  const parts = body.split(' ');
  const [minute, hour, date, month, weekday, year] = parts;
  if (!minute || !hour || !date || !month || !weekday || !year || parts.length > 6) {
    const problem = `'${text}' has ${parts.length} fields, not the six of minute to year parted by single spaces`;
    const hasSeconds = parts.length === 7 && !parts.includes('');
    throw new InvalidScheduleError(hasSeconds ? 'second' : 'cron', problem);
  }
  const times = {
    minutes: parseField(awsFields.minute, minute).values,
    hours: parseField(awsFields.hour, hour).values,
    months: parseField(awsFields.month, month).values,
    years: parseField(awsFields.year, year).values,
  };
  if ((date === '?') === (weekday === '?')) {
    throw new InvalidScheduleError('dayOfWeek', `'${text}' must have ? in exactly one of its two day fields`);
  }
  const calendar: Calendar = { ...times, firesOn: weekday === '?' ? dateRule(date) : weekdayRule(weekday) };
  if (!everFires(calendar)) {
    const field = weekday === '?' ? 'dayOfMonth' : 'dayOfWeek';
    throw new InvalidScheduleError(field, `'${text}' never fires: its months have no such day`);
  }
  return { expressions: [text], wallTimes: (after) => wallTimesOf(calendar, after), once: false };
}

function parseRate(text: string, body: string): ParsedSchedule {
  const [, value, unit, plural] = /^([1-9]\d*) (minute|hour|day)(s?)$/.exec(body) ?? [];
  if (value === undefined || unit === undefined || (value === '1') !== (plural === '')) {
    throw new InvalidScheduleError(
      'cron',
      `'${text}' must read as rate(1 hour) or rate(2 hours): minutes, hours or days`,
    );
  }
  const unitMs = { minute: 60_000, hour: 3_600_000, day: 86_400_000 }[unit as 'minute' | 'hour' | 'day'];
  return { expressions: [text], everyMs: Number(value) * unitMs, once: false };
}

function parseAt(text: string, body: string): ParsedSchedule {
  const wall = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d$/.test(body) ? Date.parse(`${body}Z`) : Number.NaN;
  if (Number.isNaN(wall) || new Date(wall).toISOString().slice(0, 19) !== body) {
    throw new InvalidScheduleError(
      'cron',
      `'${text}' must name a time that exists, as at(2030-01-31T09:00:00)`,
    );
  }
  return { expressions: [text], wallTimes: (after) => (wall > after ? [wall] : []), once: true };
}
