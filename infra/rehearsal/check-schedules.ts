import type { ApiTarget } from './api-request.ts';
import type { Report } from './report.ts';
import { jobsOf, registerSession, runsOf } from './runs.ts';
import { until } from './until.ts';

/** The schedules of the suite's agents that are due every minute. Each has an action of its own. */
const everyMinute = [
  { what: 'a rule', schedule: 'every-minute', action: 'tick-rule' },
  { what: 'a schedule of Scheduler', schedule: 'every-minute-in-paris', action: 'tick-schedule' },
];

/** The emulator looks every ten seconds for what is due, and a minute may just have begun. */
const patienceMs = 150_000;

const session = 'rehearsal-tick';

/** To be done long before the check, so that schedules have come due without anybody waiting for them. */
export async function prepareSchedules(api: ApiTarget): Promise<void> {
  await registerSession(api, session);
}

/** Nobody starts these runs but EventBridge. */
export async function checkSchedules(report: Report, api: ApiTarget): Promise<void> {
  for (const { what, schedule, action } of everyMinute) {
    const visited = async () => {
      const runs = await runsOf(api, action);
      for (const run of runs.filter(({ status }) => status === 'completed')) {
        const job = (await jobsOf(api, run)).find(({ sessionId }) => sessionId === session);
        if (job !== undefined) return { run, job };
      }
      return undefined;
    };
    const found = await until(visited, patienceMs);
    if (found === undefined) {
      const runs = JSON.stringify((await runsOf(api, action)).slice(0, 3));
      report.check(`${what} starts a run by itself`, false, `the newest runs are ${runs}`);
      continue;
    }
    const { run, job } = found;
    report.check(
      `${what} starts a run by itself, which names it`,
      run.trigger === 'schedule' && run.schedule === schedule,
      JSON.stringify(run),
    );
    report.check(
      `the run of ${what} has visited every session`,
      job.ok && run.failed === 0 && run.ok === run.sessions,
      JSON.stringify({ run, job }),
    );
  }
}
