import { describeSchedule } from '../../../lib/schedules/describe-schedule.ts';
import { isOver, nextFireTimes } from '../../../lib/schedules/next-fire-times.ts';
import type { ScheduleDescriptor } from '../../../lib/schedules/schedule-descriptor.ts';
import { toEventBridge } from '../../../lib/schedules/to-event-bridge.ts';
import type { Handle } from '../http-handler.ts';
import { json } from '../response.ts';

const shownFireTimes = 3;

/** `GET /v1/schedules` */
export const listSchedules: Handle = async (_request, { agents }) => {
  const now = new Date();
  const items = [...agents.values()].flatMap(({ name, schedules = [] }) =>
    schedules.map((schedule) => shown(name, schedule, now)),
  );
  return json(200, { items });
};

function shown(agent: string, schedule: ScheduleDescriptor, now: Date) {
  const { name, action, cron, timezone } = schedule;
  return {
    ...{ name, agent, action, cron, timezone },
    expressions: toEventBridge(schedule).expressions,
    description: describeSchedule(schedule),
    next: nextFireTimes(schedule, now, shownFireTimes),
    ...(isOver(schedule, now) && { over: true }),
  };
}
