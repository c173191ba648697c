import awsCron from 'aws-cron-parser';
import { Cron } from 'croner';

const dayMs = 24 * 60 * 60 * 1000;

/** Someone else's reading of an expression, in UTC. */
export interface CronOracle {
  next(after: number): number | undefined;
}

/** Five-field cron by croner. It takes `5/2` only when asked to, and ORs the day fields also where one begins with `*`. */
export function cronerOracle(cron: string): CronOracle {
  const job = new Cron(cron, { utcOffset: 0, paused: true, sloppyRanges: true });
  return { next: (after) => job.nextRun(new Date(after))?.getTime() };
}

/** `cron(...)` by aws-cron-parser. */
export function awsOracle(expression: string): CronOracle {
  const parsed = awsCron.parse(expression.slice('cron('.length, -1));
  // It looks for the first that is late enough, so it must find them in order: hours may read 22,23,0,1,2.
  for (const values of [parsed.minutes, parsed.hours, parsed.daysOfMonth, parsed.months] as unknown[][]) {
    if (typeof values[0] === 'number') values.sort((a, b) => Number(a) - Number(b));
  }
  const monthOf = (time: Date) => Date.UTC(time.getUTCFullYear(), time.getUTCMonth(), 1);

  // It takes a date that the month does not have (31 February) for one of the next month (2 March), and so may pass
  // over an earlier one there: only an answer in the month that was asked for is sure.
  function next(after: number): number | undefined {
    let asked = new Date(after);
    let found = awsCron.next(parsed, asked);
    while (found !== null && monthOf(found) !== monthOf(asked)) {
      asked = new Date(monthOf(found));
      found = awsCron.next(parsed, new Date(asked.getTime() - 1));
    }
    return found?.getTime();
  }

  return { next };
}

/** Whichever comes first, each instant once. */
export function unionOf(oracles: readonly CronOracle[]): CronOracle {
  return {
    next(after) {
      const times = oracles.map((oracle) => oracle.next(after)).filter((time) => time !== undefined);
      return times.length > 0 ? Math.min(...times) : undefined;
    },
  };
}

/** The midnights of the days on which it fires. */
export function firingDays(oracle: CronOracle, from: number, until: number): number[] {
  const days: number[] = [];
  let time = oracle.next(from - 1);
  while (time !== undefined && time < until) {
    const midnight = time - (time % dayMs);
    days.push(midnight);
    time = oracle.next(midnight + dayMs - 1);
  }
  return days;
}

/** The instants from one to before another. */
export function firingTimes(oracle: CronOracle, from: number, until: number): number[] {
  const times: number[] = [];
  for (let time = oracle.next(from - 1); time !== undefined && time < until; time = oracle.next(time)) {
    times.push(time);
  }
  return times;
}
