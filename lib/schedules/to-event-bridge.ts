import { parseSchedule } from './parse-schedule.ts';
import type { ScheduleDescriptor } from './schedule-descriptor.ts';

export interface EventBridgeSchedule {
  /**
   * `cron(...)`, `rate(...)` or `at(...)`. With two, the schedule is the union of their times: at an instant that is in
   * both, both fire, and the receiver must take the two for one tick (same schedule, same time).
   */
  readonly expressions: readonly string[];
  /** `rules` are in UTC and recur. What has a time zone or happens once is for EventBridge Scheduler. */
  readonly service: 'rules' | 'scheduler';
}

/**
 * The AWS expressions that fire at exactly the instants that the schedule means. An AWS expression is passed on as it is.
 *
 * @throws InvalidScheduleError as `scheduleDescriptor`
 * @example
 * toEventBridge(scheduleDescriptor('payday', '0 9 1,15 * MON', 'pay')).expressions;
 * // ['cron(0 9 1,15 * ? *)', 'cron(0 9 ? * 2 *)']: the 1st, the 15th, and every Monday
 */
export function toEventBridge(descriptor: ScheduleDescriptor): EventBridgeSchedule {
  const { expressions, once } = parseSchedule(descriptor.cron);
  return { expressions, service: descriptor.timezone !== undefined || once ? 'scheduler' : 'rules' };
}
