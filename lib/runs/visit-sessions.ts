import type { AgentDefinition } from '../agents/agent-definition.ts';
import { handOverReserveMs, sessionConcurrency, sessionTimeoutSecs } from '../defaults.ts';
import type { LifecycleJob } from '../lifecycle/lifecycle-job.ts';
import { ErrorLogUnavailableError, eachSessionJob } from '../lifecycle/run-session-job.ts';
import type { SessionJobHandler } from '../lifecycle/session-job.ts';
import { createRuntime } from '../runtime/create-runtime.ts';
import type { Session } from '../sessions/session.ts';
import type { StoredRun } from './run.ts';
import type { RunEngine } from './run-engine.ts';
import { withStoredResult } from './stored-job.ts';

interface Visits {
  /** One for each session that was begun, in their order. */
  readonly jobs: readonly LifecycleJob[];
  /** Failures that the error log did not take. */
  readonly unrecorded: number;
}

interface VisitorOptions {
  readonly definition: AgentDefinition;
  readonly handler: SessionJobHandler;
  readonly remainingMs?: (() => number) | undefined;
  readonly stop?: AbortSignal | undefined;
}

/** Visits the sessions of a page. */
export interface Visitor {
  /** Whether there is time for more. The first session always has its turn, or a run would never end. */
  hasTime(): boolean;
  visit(sessions: readonly Session[]): Promise<Visits>;
}

/**
 * Runs an action's handler over sessions as long as there is time, so that every session that was begun can end within
 * its limit. The limit is the agent's, or about half of the worker's time where that is less.
 */
export function visitor(
  engine: RunEngine,
  run: StoredRun,
  { definition, handler, remainingMs = () => Number.POSITIVE_INFINITY, stop }: VisitorOptions,
): Visitor {
  const { limits = {}, retention } = definition;
  const ownRuntime = createRuntime(run.agent, {
    stores: engine.stores,
    policy: retention,
    maxErrors: limits.maxErrors,
    clock: engine.clock,
    newId: engine.newId,
  });
  const runtime: typeof ownRuntime = {
    ...ownRuntime,
    recordError: (error) => engine.attempt(() => ownRuntime.recordError(error)),
  };
  const wantedMs = (limits.sessionTimeoutSecs ?? sessionTimeoutSecs) * 1000;
  const budgetMs = Math.max(1, remainingMs());
  const reserveMs = Math.min(handOverReserveMs, budgetMs / 4);
  const timeoutMs = Math.min(wantedMs, (budgetMs - reserveMs) / 2);
  const keepingHandler = withStoredResult(handler);
  let hasBegun = false;
  const hasTime = () => stop?.aborted !== true && (!hasBegun || remainingMs() > timeoutMs + reserveMs);

  const mayBegin = () => {
    const may = hasTime();
    hasBegun ||= may;
    return may;
  };

  const visit = async (sessions: readonly Session[]): Promise<Visits> => {
    const jobs: LifecycleJob[] = [];
    try {
      for await (const job of eachSessionJob(runtime, run.action, keepingHandler, {
        sessions,
        mayBegin,
        concurrency: limits.sessionConcurrency ?? sessionConcurrency,
        timeoutSecs: timeoutMs / 1000,
        runId: run.runId,
        now: run.startedAt,
        logger: engine.logger,
        handles: engine.handles,
        secrets: engine.secrets,
      }))
        jobs.push(job);
      return { jobs, unrecorded: 0 };
    } catch (error) {
      if (!(error instanceof ErrorLogUnavailableError)) throw error;
      return { jobs, unrecorded: error.unrecorded };
    }
  };

  return { hasTime, visit };
}
