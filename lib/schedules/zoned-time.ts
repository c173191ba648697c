import { zoneNames } from './zone-names.ts';

const dayMs = 24 * 60 * 60 * 1000;

/** A time zone's clock. Wall-clock times are as in calendar.ts. */
export interface ZonedClock {
  wallTimeAt(instant: number): number;
  /** The first instant at which the clock shows it; undefined where the clock is set forward past it. */
  instantOf(wallTime: number): number | undefined;
}

export const utcClock: ZonedClock = {
  wallTimeAt: (instant) => instant,
  instantOf: (wallTime) => wallTime,
};

/** The clock of an IANA time zone. */
export function zonedClock(timeZone: string): ZonedClock {
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  });

  function wallTimeAt(instant: number): number {
    const parts: Partial<Record<Intl.DateTimeFormatPartTypes, number>> = {};
    for (const { type, value } of format.formatToParts(instant)) parts[type] = Number(value);
    const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = parts;
    return Date.UTC(year, month - 1, day, hour, minute, second) + (((instant % 1000) + 1000) % 1000);
  }

  const offsetAt = (instant: number) => wallTimeAt(instant) - instant;

  function instantOf(wallTime: number): number | undefined {
    // No clock is a whole day from UTC, so these two are the offsets before and after a change near the wall time.
    const offsets = [offsetAt(wallTime - dayMs), offsetAt(wallTime + dayMs)];
    const instants = offsets.map((offset) => wallTime - offset);
    const shown = instants.filter((instant) => wallTimeAt(instant) === wallTime);
    return shown.length > 0 ? Math.min(...shown) : undefined;
  }

  return { wallTimeAt, instantOf };
}

/**
 * Whether it is the name of an IANA time zone, in its own capitals, as EventBridge Scheduler wants them, of which this
 * host knows the clock. An abbreviation that the database does not have and an offset are none.
 */
export function isTimeZone(name: unknown): name is string {
  if (typeof name !== 'string' || !zoneNames().has(name)) return false;
  try {
    new Intl.DateTimeFormat('en-US', { timeZone: name });
    return true;
  } catch {
    return false;
  }
}
