import { fieldsOf, fieldsProblem } from '../input.ts';
import { InvalidScheduleError } from './invalid-schedule-error.ts';
import { parseSchedule } from './parse-schedule.ts';
import { nearestZone } from './zone-names.ts';
import { isTimeZone } from './zoned-time.ts';

/** What runs when, in neutral words: five-field cron, UTC unless `timezone` names an IANA zone. */
export interface ScheduleDescriptor<Action extends string = string> {
  readonly name: string;
  readonly cron: string;
  readonly action: Action;
  readonly timezone?: string | undefined;
}

const optionNames = fieldsOf<Pick<ScheduleDescriptor, 'timezone'>>()({ timezone: 1 });

/** Names of rules and schedules end at 64 characters; 16 are left for what a deployment adds. */
const scheduleNamePattern = /^[A-Za-z0-9][A-Za-z0-9._-]{0,47}$/;

/**
 * Makes a schedule: `action` runs over every session of its agent whenever `cron` says so.
 *
 * `cron` is five-field cron with names, lists, ranges, steps and nicknames (`@daily`), or an AWS expression
 * (`rate(...)`, `cron(...)`, `at(...)`). Where both day fields are restricted, either is enough, as in cron. It is
 * read in UTC, or in `options.timezone`; there, a time that the clock skips in spring does not fire, and one that it
 * shows twice in autumn fires the first time only.
 *
 * @throws InvalidScheduleError whose `field` is `name`, `action`, `timezone`, the field of `cron` that is wrong, or
 *   `cron` itself: not a time, a time that never comes, or one that AWS cannot keep exactly
 * @example
 * scheduleDescriptor('weekday-digest', '30 9 * * MON-FRI', 'send-digest', { timezone: 'Europe/Paris' });
 */
export function scheduleDescriptor<const Action extends string>(
  name: string,
  cron: string,
  action: Action,
  options: { readonly timezone?: string | undefined } = {},
): ScheduleDescriptor<Action> {
  const problem = fieldsProblem(options, optionNames);
  if (problem !== undefined) throw new InvalidScheduleError('timezone', problem);
  const { timezone } = options;
  const descriptor = { name, cron, action, ...(timezone === undefined ? {} : { timezone }) };
  checkSchedule(descriptor);
  return descriptor;
}

/**
 * Checks a descriptor that may have been written by hand. The bundles of the functions leave the check out: their
 * definitions were checked when the stack was made, and it costs a cold start 10 kB of code and, for a time zone, 30 ms.
 * Where the variable is asked in place, the bundler knows the answer.
 *
 * @throws InvalidScheduleError as `scheduleDescriptor`
 */
export function checkSchedule(descriptor: ScheduleDescriptor): void {
  if (process.env.DORMOUSE_SCHEDULES_CHECKED !== 'true') check(descriptor);
}

function check({ name, cron, action, timezone }: ScheduleDescriptor): void {
  if (typeof name !== 'string' || !scheduleNamePattern.test(name)) {
    throw new InvalidScheduleError(
      'name',
      `${JSON.stringify(name)} must match ${scheduleNamePattern.source}`,
    );
  }
  if (typeof action !== 'string' || action === '') {
    throw new InvalidScheduleError('action', 'must name an action');
  }
  if (typeof cron !== 'string') throw new InvalidScheduleError('cron', 'must be a string');
  const { wallTimes } = parseSchedule(cron);
  if (timezone === undefined) return;
  if (!isTimeZone(timezone)) {
    throw new InvalidScheduleError(
      'timezone',
      `${JSON.stringify(timezone)} is no IANA name such as ${nearestZone(timezone)}`,
    );
  }
  if (wallTimes === undefined) {
    throw new InvalidScheduleError('timezone', 'means nothing to a rate, which does not look at the clock');
  }
}
