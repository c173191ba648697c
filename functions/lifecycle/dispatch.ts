import type { Context } from 'aws-lambda';
import { startRun } from '../../lib/runs/start-run.ts';
import { lifecycleEngine } from '../lifecycle-engine.ts';
import { loggable } from '../loggable.ts';
import { logger } from '../logger.ts';
import { publishMetrics } from '../metrics.ts';
import { type Services, services } from '../services.ts';
import { scopesOf } from '../tenants.ts';
import { parseTick, type Tick } from './tick.ts';

/** How many runs a tick has started, had started before, and noted as skipped: one, or with tenants one of each. */
export interface Dispatched {
  readonly started: number;
  readonly duplicate: number;
  readonly skipped: number;
}

/**
 * Starts the run of a tick that EventBridge brings, once however often it comes. With tenants each has its own run, and
 * one that cannot be started does not keep the others from theirs: the tick then comes again.
 */
export const handler = async (event: unknown, context?: Context): Promise<Dispatched> => {
  if (context) logger().addContext(context);
  try {
    return await dispatch(event, services());
  } catch (error) {
    logger().error('a tick failed', loggable(error));
    throw error;
  } finally {
    publishMetrics();
  }
};

async function dispatch(event: unknown, given: Services): Promise<Dispatched> {
  const tick = parseTick(event, given.agents);
  const engine = lifecycleEngine(given);
  const counts = { started: 0, duplicate: 0, skipped: 0 };
  let failure: { readonly error: unknown } | undefined;
  for await (const scope of scopesOf(tick.agent, given)) {
    try {
      const { action, schedule, at } = tick;
      const request = { agent: scope, action, tick: { schedule, at }, overlap: given.overlap };
      const { status, run } = await startRun(engine, request);
      counts[status]++;
      logger().info('tick', { ...described(tick), run: run.runId, status });
    } catch (error) {
      if (given.tenantClaim === undefined) throw error;
      logger().error('the run of a tenant was not started', { ...described(tick), ...loggable(error) });
      failure = { error };
    }
  }
  if (failure !== undefined) throw failure.error;
  return counts;
}

function described({ agent, action, schedule, at }: Tick) {
  return { agent, action, schedule, at: at.toISOString() };
}
