import { currentTotals } from '../../../lib/runs/current-totals.ts';
import type { StoredRun } from '../../../lib/runs/run.ts';
import { RunNotFoundError } from '../../../lib/runs/run-error.ts';
import { isRunId } from '../../../lib/runs/run-id.ts';
import type { RunStore } from '../../../lib/runs/run-store.ts';
import type { HttpRequest } from '../request.ts';
import type { AgentTarget } from '../target.ts';

/** The run that a request names. @throws RunNotFoundError */
export async function requestedRun(
  runs: RunStore,
  { scope }: AgentTarget,
  { parameters }: HttpRequest,
): Promise<StoredRun> {
  const runId = parameters.run ?? '';
  // What cannot be an id is not looked for: it may be longer than a key.
  const run = isRunId(runId) ? await runs.get({ agent: scope, runId }) : undefined;
  if (run === undefined) throw new RunNotFoundError(runId);
  return run;
}

/** A run as callers see it, with the totals of this moment. */
export async function serializeRun(runs: RunStore, { name }: AgentTarget, stored: StoredRun) {
  const { runId, action, trigger, schedule, status, reason, startedAt, finishedAt, sessions, ok, failed } =
    await currentTotals(runs, stored);
  const described = { runId, agent: name, action, trigger, schedule, status, reason };
  return { ...described, startedAt, finishedAt, sessions, ok, failed };
}
