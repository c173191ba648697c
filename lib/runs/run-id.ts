import { createHash } from 'node:crypto';

const runIdPattern = /^\d{8}T\d{9}Z-[0-9a-f]{24}$/;

/**
 * The id of the run of one tick: the same for every delivery of it, whatever its event's id, and for the several rules
 * of one schedule. Ids sort by time.
 */
export function scheduledRunId(agent: string, schedule: string, tick: Date): string {
  return idOf(tick, JSON.stringify([agent, schedule, tick.getTime()]));
}

/** The id of a run that was asked for at `now`; `unique` tells it from any other. */
export function requestedRunId(now: Date, unique: string): string {
  return idOf(now, unique);
}

/** Whether a text can be the id of a run at all: those that come in with a request may be anything. */
export function isRunId(text: string): boolean {
  return runIdPattern.test(text);
}

/** The time in a run's id: that of its tick, or of its request. */
export function timeOfRunId(runId: string): Date {
  const [, year, month, day, hour, minute, second, ms] =
    /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)(\d{3})Z/.exec(runId) ?? [];
  return new Date(`${year}-${month}-${day}T${hour}:${minute}:${second}.${ms}Z`);
}

function idOf(time: Date, identity: string): string {
  const compact = time.toISOString().replace(/[-:.]/g, '');
  return `${compact}-${createHash('sha256').update(identity).digest('hex').slice(0, 24)}`;
}
