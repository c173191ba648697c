import type { AgentDefinition } from '../../lib/agents/agent-definition.ts';
import { type Clock, systemClock } from '../../lib/clock.ts';
import { messageOf } from '../../lib/message-of.ts';
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
 * that were slept through, the first one is fired, late. A rate counts from now. Where the clock is set back, its times
 * come again (the dispatcher knows a tick that it has had), and a rate keeps its pace.
 */
export function startTicker({ agents, fire, log, clock = systemClock }: TickerOptions): { close(): void } {
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
    let seen = clock().getTime();
    let seenAt = performance.now();
    let anchor = seen;
    let due = nextAfter(seen, schedule, anchor);
    if (due === undefined) {
      log(`Schedule '${schedule.name}' of '${agent}' is over: it does not fire any more`);
      return;
    }
    const step = () => {
      const now = clock().getTime();
      const passedMs = performance.now() - seenAt;
      if (now < seen) {
        // From where the last step was by the new time: what came due since then is not skipped.
        anchor -= Math.round(seen + passedMs - now);
        due = nextAfter(now - passedMs, schedule, anchor);
      }
      if (due !== undefined && now >= due.getTime()) {
        void deliver(agent, schedule, due);
        due = nextAfter(now, schedule, anchor);
      }
      seen = now;
      seenAt += passedMs;
      if (due !== undefined) after(Math.min(due.getTime() - now, stepMaxMs), step);
    };
    step();
  };

  for (const { name, schedules = [] } of agents) for (const schedule of schedules) wait(name, schedule);

  return {
    close() {
      closed = true;
      for (const timer of timers) clearTimeout(timer);
    },
  };
}

function nextAfter(after: number, schedule: ScheduleDescriptor, anchor: number): Date | undefined {
  const { everyMs } = parseSchedule(schedule.cron);
  if (everyMs === undefined) return nextFireTimes(schedule, new Date(after), 1)[0];
  const passedMs = Math.max(0, after - anchor);
  return new Date(anchor + (Math.floor(passedMs / everyMs) + 1) * everyMs);
}
