import type { StoredRun } from '../../../lib/runs/run.ts';
import type { StartedRun } from '../../../lib/runs/start-run.ts';

/** What became of the ticks of one action, and of the runs that they started. */
export interface RunsHistory {
  readonly sessions: readonly string[];
  /** The answer to each delivery of a tick that was answered. */
  readonly answers: readonly { readonly tick: string; readonly answer: StartedRun }[];
  /** The tick that came when all others had been worked off. */
  readonly lastTick: string;
  /** Every run of the action, with the sessions of its jobs. */
  readonly runs: readonly { readonly run: StoredRun; readonly jobs: readonly string[] }[];
  readonly visits: readonly Visit[];
}

/** A handler's work on a session, with the moments at which it began and ended. */
export interface Visit {
  readonly runId: string;
  readonly session: string;
  readonly from: number;
  readonly to: number;
}

/**
 * A tick has one run, however often it is delivered, and at most one delivery is told that it started it. A run ends as
 * completed, with one job for each session and totals that are their number, or as skipped, with none; skipped only
 * beside another one. No two runs visit at the same time.
 */
export function brokenRunLaws({ sessions, answers, lastTick, runs, visits }: RunsHistory): string[] {
  const broken: string[] = [];
  const ticks = [...new Set(answers.map(({ tick }) => tick))];
  if (runs.length !== ticks.length) broken.push(`${ticks.length} ticks have ${runs.length} runs`);
  for (const tick of ticks) {
    const ofTick = answers.filter((answer) => answer.tick === tick).map(({ answer }) => answer);
    if (new Set(ofTick.map(({ run }) => run.runId)).size !== 1) broken.push(`${tick} has several runs`);
    if (ofTick.filter(({ status }) => status === 'started').length > 1)
      broken.push(`${tick} was started twice`);
  }
  const last = answers.find(({ tick }) => tick === lastTick)?.answer.run.runId;
  for (const { run, jobs } of runs) {
    const { runId, status } = run;
    const visited = new Set(visits.filter((visit) => visit.runId === runId).map(({ session }) => session));
    if (status === 'completed') {
      if (jobs.toSorted().join(' ') !== sessions.toSorted().join(' '))
        broken.push(`${runId} has the jobs ${jobs.join(' ')}`);
      if (run.sessions !== jobs.length || run.ok + run.failed !== jobs.length)
        broken.push(`${runId} has ${jobs.length} jobs, and counts ${run.sessions}`);
      if (!sessions.every((session) => visited.has(session))) broken.push(`${runId} has left sessions out`);
    } else if (status !== 'skipped') broken.push(`${runId} is ${status}: ${run.reason}`);
    else if (jobs.length + visited.size > 0) broken.push(`${runId} is skipped, and has visited`);
    if (runId === last && status !== 'completed') broken.push(`${runId} is ${status}, beside no other run`);
  }
  if (!runs.some(({ run }) => run.status === 'completed' && run.runId !== last))
    broken.push('all runs were skipped');
  const overlap = visits.some((one) =>
    visits.some((other) => other.runId !== one.runId && other.from < one.to && one.from < other.to),
  );
  if (overlap) broken.push('two runs visit at the same time');
  return broken;
}
