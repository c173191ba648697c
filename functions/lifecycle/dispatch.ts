import type { Context } from 'aws-lambda';
import { pMapIterable } from 'p-map';
import { actionNames } from '../../lib/agents/actions.ts';
import { UnknownActionError } from '../../lib/runs/run-error.ts';
import { type StartedRun, startRun } from '../../lib/runs/start-run.ts';
import { lifecycleEngine } from '../lifecycle-engine.ts';
import { loggableScope, serviceLog } from '../log.ts';
import { loggable } from '../loggable.ts';
import { publishMetrics } from '../metrics.ts';
import { type Services, services } from '../services.ts';
import { type AgentScope, agentScopes, removeIfEmpty } from '../tenants.ts';
import { parseTick, type Tick } from './tick.ts';

/** How many runs a tick has started, had started before, and noted as skipped: one, or with tenants one of each that has sessions. */
export interface Dispatched {
  readonly started: number;
  readonly duplicate: number;
  readonly skipped: number;
}

/** Tenants whose runs are started at the same time. */
const scopeConcurrency = 8;

/**
 * Starts the run of a tick that EventBridge brings, once however often it comes. With tenants each has its own run, and
 * one that cannot be started does not keep the others from theirs. Rejects where anything failed: the tick then comes
 * again, and in the end is dead-lettered.
 */
export const handler = async (event: unknown, context?: Context): Promise<Dispatched> => {
  const log = serviceLog(context);
  try {
    return await dispatch(event, services());
  } catch (error) {
    log.error('a tick failed', loggable(error));
    throw error;
  } finally {
    publishMetrics();
  }
};

async function dispatch(event: unknown, given: Services): Promise<Dispatched> {
  const tick = parseTick(event, given.agents);
  // Before any scope is looked for: a rule may outlive its agent for a moment, or for good.
  const definition = given.agents.get(tick.agent);
  const actions = await actionNames(definition);
  if (!actions?.includes(tick.action)) throw new UnknownActionError(tick.agent, tick.action, actions);

  const counts = { started: 0, duplicate: 0, skipped: 0 };
  let failures = 0;
  const outcomes = pMapIterable(agentScopes(tick.agent, given), (scope) => startIn(scope, tick, given), {
    concurrency: scopeConcurrency,
  });
  for await (const status of outcomes) {
    if (status === 'failed') failures++;
    else if (status !== 'empty') counts[status]++;
  }
  // Without its causes, which the log has: Lambda prints what a function throws, and they may quote what is stored.
  if (failures > 0) throw new Error(`${failures} runs were not started`);
  return counts;
}

type Outcome = StartedRun['status'] | 'empty' | 'failed';

async function startIn(inScope: AgentScope, tick: Tick, given: Services): Promise<Outcome> {
  const { scope } = inScope;
  const { action, schedule, at } = tick;
  const described = { ...loggableScope(scope), action, schedule, at: at.toISOString() };
  try {
    // At the next tick nothing of this tenant is looked at, until it comes back.
    if (await removeIfEmpty(tick.agent, inScope, given)) return 'empty';
    const request = { agent: scope, action, tick: { schedule, at }, overlap: given.overlap };
    const { status, run } = await startRun(lifecycleEngine(given), request);
    serviceLog().info('tick', { ...described, runId: run.runId, status });
    return status;
  } catch (error) {
    serviceLog().error('a run was not started', { ...described, ...loggable(error) });
    return 'failed';
  }
}
