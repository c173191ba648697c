import type { AgentDefinition } from '../../lib/agents/agent-definition.ts';
import { type Clock, systemClock } from '../../lib/clock.ts';
import { messageOf } from '../../lib/errors.ts';
import { nextFireTimes } from '../../lib/schedules/next-fire-times.ts';
import { parseSchedule } from '../../lib/schedules/parse-schedule.ts';
import type { ScheduleDescriptor } from '../../lib/schedules/schedule-descriptor.ts';
import type { Fire } from './fire-schedule.ts';

/** Timers stand still while a machine sleeps, and know nothing of its clock: they are set for no longer than this. */
const stepMaxMs = 60_000;

/** A tick that could not be delivered is tried again, as EventBridge does, only not for as long. */
const attempts = 4;
const retryMs = 2_000;

export interface TickerOptions {
  readonly agents: Iterable<AgentDefinition>;
  readonly fire: Fire;
  readonly log: (line: string) => void;
  readonly clock?: Clock | undefined;
}

/**
 * Fires the schedules of agents at their times, by the project's own calendar: it is the one that EventBridge's
 * expressions are proved against, and cron libraries read neither these nor time zones as EventBridge does. Of ticks
 * that were slept through, the first one is fired, late. A rate counts from now.
 */
export function startTicker({ agents, fire, log, clock = systemClock }: TickerOptions): { close(): void } {
  const startedAt = clock();
  const timers = new Set<NodeJS.Timeout>();
  let closed = false;

  const after = (ms: number, then: () => void) => {
    if (closed) return;
    const timer = setTimeout(() => {
      timers.delete(timer);
      then();
    }, ms).unref();
    timers.add(timer);
  };

  const deliver = async (agent: string, schedule: ScheduleDescriptor, at: Date, attempt = 1) => {
    const what = `schedule '${schedule.name}' of '${agent}'`;
    try {
      const { started, duplicate } = await fire(agent, schedule, at);
      log(`Fired ${what}: ${started > 0 ? 'started' : duplicate > 0 ? 'started before' : 'skipped'}`);
    } catch (error) {
      if (closed) return;
      const again = attempt < attempts;
      const reason = messageOf(error).replace(/\s+/g, ' ');
      console.error(
        `dormouse: the ${what} failed to fire${again ? ', and will be tried again' : ''}: ${reason}`,
      );
      if (again) after(retryMs * attempt, () => void deliver(agent, schedule, at, attempt + 1));
    }
  };

  const wait = (agent: string, schedule: ScheduleDescriptor) => {
    const armedAt = clock();
    const due = nextAfter(armedAt, schedule, startedAt);
    if (due === undefined) return;
    const step = () => {
      const now = clock();
      if (now >= due) void deliver(agent, schedule, due);
      // Also when the clock was set back: an earlier time may be due now.
      if (now >= due || now < armedAt) wait(agent, schedule);
      else after(Math.min(due.getTime() - now.getTime(), stepMaxMs), step);
    };
    after(Math.min(due.getTime() - armedAt.getTime(), stepMaxMs), step);
  };

  for (const { name, schedules = [] } of agents) for (const schedule of schedules) wait(name, schedule);

  return {
    close() {
      closed = true;
      for (const timer of timers) clearTimeout(timer);
    },
  };
}

function nextAfter(now: Date, schedule: ScheduleDescriptor, startedAt: Date): Date | undefined {
  const { everyMs } = parseSchedule(schedule.cron);
  if (everyMs === undefined) return nextFireTimes(schedule, now, 1)[0];
  const passed = Math.max(0, now.getTime() - startedAt.getTime());
  return new Date(startedAt.getTime() + (Math.floor(passed / everyMs) + 1) * everyMs);
}
