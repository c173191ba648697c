import { type Calendar, everFires, wallTimesOf } from './calendar.ts';
import { InvalidScheduleError } from './invalid-schedule-error.ts';
import { type ParsedField, parseField } from './parse-field.ts';
import type { ParsedSchedule } from './parsed-schedule.ts';
import { type DayRule, spellAwsCron, type UnixCron } from './spell-aws-cron.ts';
import { unixFields } from './time-field.ts';

const nicknames: Readonly<Record<string, string>> = {
  '@hourly': '0 * * * *',
  '@daily': '0 0 * * *',
  '@midnight': '0 0 * * *',
  '@weekly': '0 0 * * 0',
  '@monthly': '0 0 1 * *',
  '@yearly': '0 0 1 1 *',
  '@annually': '0 0 1 1 *',
};

/**
 * Reads five-field cron as Vixie's cron does, with three readings of its own where crons differ: a range that runs
 * over the end goes on at the beginning (22-2), `5/10` counts from 5 to the end of the field, and a step may be as
 * long as its field but not longer.
 *
 * @throws InvalidScheduleError naming the field: not cron, never true, or true at times that AWS cannot express
 */
export function parseUnixCron(text: string): ParsedSchedule {
  const cron = dropImpossibleDays(readFields(text));
  const calendar = calendarOf(cron);
  if (!everFires(calendar)) {
    throw new InvalidScheduleError('dayOfMonth', `'${text}' never fires: its months have no such day`);
  }
  return { expressions: spellAwsCron(cron), wallTimes: (after) => wallTimesOf(calendar, after), once: false };
}

function readFields(text: string): UnixCron {
  const parts = expandNickname(text).split(/\s+/);
  const [minute, hour, dayOfMonth, month, dayOfWeek] = parts;
  if (!minute || !hour || !dayOfMonth || !month || !dayOfWeek || parts.length > 5) {
    throw wrongCount(text, parts.length);
  }
  const fields = {
    minute: parseField(unixFields.minute, minute),
    hour: parseField(unixFields.hour, hour),
    dayOfMonth: parseField(unixFields.dayOfMonth, dayOfMonth),
    month: parseField(unixFields.month, month),
    dayOfWeek: parseField(unixFields.dayOfWeek, dayOfWeek),
  };
  return { ...fields, days: joinDays(fields.dayOfMonth, fields.dayOfWeek) };
}

function expandNickname(text: string): string {
  if (!text.startsWith('@')) return text;
  const expansion = nicknames[text.toLowerCase()];
  if (expansion !== undefined) return expansion;
  const known = Object.keys(nicknames).join(', ');
  throw new InvalidScheduleError('cron', `'${text}' is not one of the nicknames that name a time: ${known}`);
}

function wrongCount(text: string, count: number): InvalidScheduleError {
  if (/^(CRON_)?TZ=/i.test(text)) {
    return new InvalidScheduleError('timezone', `'${text}': give the time zone as an option of the schedule`);
  }
  return count === 6 || count === 7
    ? new InvalidScheduleError('second', `'${text}' has ${count} fields; AWS knows no seconds, cron has five`)
    : new InvalidScheduleError('cron', `'${text}' has ${count} fields, not five`);
}

/** Cron's rule: both day fields must suit where one of them begins with `*`, else one that suits is enough. */
function joinDays(dayOfMonth: ParsedField, dayOfWeek: ParsedField): DayRule {
  const bothMustSuit = dayOfMonth.starred || dayOfWeek.starred;
  if (dayOfMonth.full && dayOfWeek.full) return 'every';
  if (!bothMustSuit) return dayOfMonth.full || dayOfWeek.full ? 'every' : 'either';
  if (dayOfMonth.full) return 'dayOfWeek';
  if (dayOfWeek.full) return 'dayOfMonth';
  const field = dayOfMonth.starred ? 'dayOfMonth' : 'dayOfWeek';
  throw new InvalidScheduleError(
    field,
    'begins with * and is restricted together with the other day field: cron fires only on days that suit both, ' +
      'which AWS cannot express. Restrict one of them, or write AWS cron(...), for instance cron(0 9 ? * MON#1 *) for first Mondays',
  );
}

/** AWS refuses an expression that never fires, also where cron's other day field does. */
function dropImpossibleDays(cron: UnixCron): UnixCron {
  const possible = cron.days !== 'either' || everFires(calendarOf({ ...cron, days: 'dayOfMonth' }));
  return possible ? cron : { ...cron, days: 'dayOfWeek' };
}

function calendarOf(cron: UnixCron): Calendar {
  const daysOfMonth = new Set(cron.dayOfMonth.values);
  const weekdays = new Set(cron.dayOfWeek.values);
  const rules: Record<DayRule, Calendar['firesOn']> = {
    every: () => true,
    dayOfMonth: ({ day }) => daysOfMonth.has(day),
    dayOfWeek: ({ weekday }) => weekdays.has(weekday),
    either: ({ day, weekday }) => daysOfMonth.has(day) || weekdays.has(weekday),
  };
  return {
    minutes: cron.minute.values,
    hours: cron.hour.values,
    months: cron.month.values,
    firesOn: rules[cron.days],
  };
}
