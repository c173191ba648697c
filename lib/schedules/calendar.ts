/** A day of the calendar; `weekday` counts from Sunday, 0. */
interface CivilDay {
  readonly year: number;
  readonly month: number;
  readonly day: number;
  readonly weekday: number;
}

/** When something fires by the clock on the wall. */
export interface Calendar {
  readonly minutes: readonly number[];
  readonly hours: readonly number[];
  readonly months: readonly number[];
  /** Absent: every year. */
  readonly years?: readonly number[] | undefined;
  firesOn(day: CivilDay): boolean;
}

const firstYear = 1970;
/** The last year that an AWS expression can name. */
const lastYear = 2199;
const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;

/**
 * The wall-clock times after `after`, ascending, up to the year 2199. A wall-clock time is the number of milliseconds
 * that the same digits would be in UTC.
 */
export function* wallTimesOf(calendar: Calendar, after: number): Generator<number, void, undefined> {
  for (let year = Math.max(firstYear, new Date(after).getUTCFullYear()); year <= lastYear; year++) {
    if (calendar.years !== undefined && !calendar.years.includes(year)) continue;
    for (const month of calendar.months) {
      for (let day = 1; day <= daysInMonth(year, month); day++) {
        const midnight = Date.UTC(year, month - 1, day);
        if (midnight + dayMs <= after) continue;
        const weekday = new Date(midnight).getUTCDay();
        if (calendar.firesOn({ year, month, day, weekday })) yield* timesOfDay(calendar, midnight, after);
      }
    }
  }
}

function* timesOfDay({ hours, minutes }: Calendar, midnight: number, after: number): Generator<number> {
  for (const hour of hours) {
    for (const minute of minutes) {
      const time = midnight + (hour * 60 + minute) * minuteMs;
      if (time > after) yield time;
    }
  }
}

/** Whether there is any day at all on which it fires. */
export function everFires(calendar: Calendar): boolean {
  return wallTimesOf(calendar, Date.UTC(firstYear, 0, 1) - 1).next().done !== true;
}

export function daysInMonth(year: number, month: number): number {
  return new Date(Date.UTC(year, month, 0)).getUTCDate();
}
