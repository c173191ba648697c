import { type Calendar, daysInMonth } from './calendar.ts';
import { InvalidScheduleError } from './invalid-schedule-error.ts';
import { parseField } from './parse-field.ts';
import { awsFields } from './time-field.ts';

type DayRule = Calendar['firesOn'];

/** The day-of-month field of an AWS expression: also L (the last day), LW (the last working day), 15W (the nearest). */
export function dateRule(text: string): DayRule {
  if (text === 'L') return ({ year, month, day }) => day === daysInMonth(year, month);
  if (text === 'LW') {
    return ({ year, month, day }) => day === nearestWorkday(year, month, daysInMonth(year, month));
  }
  const [, target] = /^(\d+)W$/.exec(text) ?? [];
  if (target !== undefined) {
    const [wanted = 0] = parseField(awsFields.dayOfMonth, target).values;
    return ({ year, month, day }) => day === nearestWorkday(year, month, wanted);
  }
  const days = new Set(parseField(awsFields.dayOfMonth, text).values);
  return ({ day }) => days.has(day);
}

/** The day-of-week field of an AWS expression: also L (Saturday), 6L (the last Friday), FRI#2 (the second). */
export function weekdayRule(text: string): DayRule {
  if (text === 'L') return ({ weekday }) => weekday === 6;
  const [, last] = /^(\d+)L$/.exec(text) ?? [];
  if (last !== undefined) {
    const wanted = oneWeekday(last);
    return ({ year, month, day, weekday }) => weekday === wanted && day > daysInMonth(year, month) - 7;
  }
  const [hashed, named = '', nth] = /^(.+)#(.+)$/.exec(text) ?? [];
  if (hashed !== undefined) {
    if (!/^[1-5]$/.test(nth ?? ''))
      throw new InvalidScheduleError('dayOfWeek', `'${text}': after # comes 1 to 5`);
    const wanted = oneWeekday(named);
    return ({ day, weekday }) => weekday === wanted && Math.ceil(day / 7) === Number(nth);
  }
  const weekdays = new Set(parseField(awsFields.dayOfWeek, text).values.map((day) => day - 1));
  return ({ weekday }) => weekdays.has(weekday);
}

function oneWeekday(text: string): number {
  const { values } = parseField(awsFields.dayOfWeek, text);
  const [day, ...more] = values;
  if (day === undefined || more.length > 0) {
    throw new InvalidScheduleError('dayOfWeek', `'${text}': L and # go with one weekday`);
  }
  return day - 1;
}

/** The working day nearest to a date, within its month; undefined where the month is too short for the date. */
function nearestWorkday(year: number, month: number, date: number): number | undefined {
  const last = daysInMonth(year, month);
  if (date > last) return undefined;
  const weekday = new Date(Date.UTC(year, month - 1, date)).getUTCDay();
  if (weekday === 6) return date > 1 ? date - 1 : date + 2;
  if (weekday === 0) return date < last ? date + 1 : date - 2;
  return date;
}
