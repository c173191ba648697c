import type { ApiTarget } from './api-request.ts';
import type { Dispatcher } from './dispatcher.ts';
import type { Report } from './report.ts';
import { runsOf } from './runs.ts';
import { until } from './until.ts';

const patienceMs = 60_000;

/** One tick that EventBridge delivers five times: three times at once, and twice more, seconds later by its clock. */
export async function checkDuplicatedTick(
  report: Report,
  api: ApiTarget,
  { dispatch }: Dispatcher,
): Promise<void> {
  // Not due today: no other run bears its name.
  const schedule = 'once-a-year';
  const minute = new Date().toISOString().slice(0, 'YYYY-MM-DDTHH:MM'.length);
  const deliver = (seconds: string) =>
    dispatch({ agent: 'probe', action: 'visit', schedule, time: `${minute}:${seconds}Z` });

  const answers = await Promise.all(['00', '00', '00'].map(deliver));
  for (const seconds of ['07', '59']) answers.push(await deliver(seconds));

  const started = answers.reduce((sum, answer) => sum + answer.started, 0);
  const duplicate = answers.reduce((sum, answer) => sum + answer.duplicate, 0);
  report.check(
    'of one tick, delivered five times, one delivery starts a run',
    started === 1 && duplicate === 4,
    JSON.stringify(answers),
  );
  const ended = async () => {
    const runs = (await runsOf(api, 'visit')).filter((run) => run.schedule === schedule);
    return runs.some(({ status }) => status === 'running') ? undefined : runs;
  };
  const runs = await until(ended, patienceMs);
  report.check(
    'there is one run of it, completed',
    runs?.length === 1 && runs[0]?.status === 'completed',
    JSON.stringify(runs ?? 'it was still going on'),
  );
}
