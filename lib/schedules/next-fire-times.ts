import { parseSchedule } from './parse-schedule.ts';
import type { ScheduleDescriptor } from './schedule-descriptor.ts';
import { utcClock, zonedClock } from './zoned-time.ts';

/** A clock that is set back shows earlier times at later instants; none is set back by more than a day. */
const setBackMaxMs = 24 * 60 * 60 * 1000;

/**
 * Whether a schedule has come for the last time: an `at(...)` or a year that has passed. Its definition is taken all the
 * same, or a file of agents would stop loading on the day after. A rate is never over.
 *
 * @throws InvalidScheduleError as `scheduleDescriptor`
 */
export function isOver(descriptor: ScheduleDescriptor, now: Date): boolean {
  const { wallTimes } = parseSchedule(descriptor.cron);
  return wallTimes !== undefined && nextFireTimes(descriptor, now, 1).length === 0;
}

/**
 * The next `count` instants after `after` at which the schedule fires, ascending, each once. Fewer when there are no
 * more (a year that is over), none for a rate: its times depend on when AWS made it.
 *
 * In a time zone it follows EventBridge Scheduler: a time that the clock skips does not fire, and one that the clock
 * shows twice fires the first time only.
 *
 * @throws InvalidScheduleError as `scheduleDescriptor`
 * @example
 * const nightly = scheduleDescriptor('nightly', '0 2 * * *', 'compact-stale-sessions');
 * nextFireTimes(nightly, new Date('2027-01-01T12:00:00Z'), 2); // 2027-01-02T02:00:00Z and 2027-01-03T02:00:00Z
 */
export function nextFireTimes(descriptor: ScheduleDescriptor, after: Date, count: number): Date[] {
  const { wallTimes } = parseSchedule(descriptor.cron);
  if (wallTimes === undefined || count < 1) return [];
  const clock = descriptor.timezone === undefined ? utcClock : zonedClock(descriptor.timezone);
  const times: Date[] = [];
  for (const wallTime of wallTimes(clock.wallTimeAt(after.getTime()) - setBackMaxMs)) {
    const instant = clock.instantOf(wallTime);
    if (instant !== undefined && instant > after.getTime()) times.push(new Date(instant));
    if (times.length >= count) break;
  }
  return times;
}
