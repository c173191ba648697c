import { BatchProcessor, EventType, processPartialResponse } from '@aws-lambda-powertools/batch';
import type { Context, SQSBatchResponse, SQSEvent, SQSRecord } from 'aws-lambda';
import { runReceiveLimit } from '../../lib/defaults.ts';
import { jobErrorOf, stackOf } from '../../lib/lifecycle/job-outcome.ts';
import { abandonShard } from '../../lib/runs/abandon-shard.ts';
import { ShardTakenError } from '../../lib/runs/run-error.ts';
import { parseRunMessage, type RunMessage } from '../../lib/runs/run-message.ts';
import { workShard } from '../../lib/runs/work-shard.ts';
import { createRuntime } from '../../lib/runtime/create-runtime.ts';
import { lifecycleEngine, lifecycleStores } from '../lifecycle-engine.ts';
import { jobLog, loggableScope, serviceLog } from '../log.ts';
import { loggable } from '../loggable.ts';
import { publishMetrics } from '../metrics.ts';
import { runtimeStores } from '../runtime-stores.ts';
import { type Services, services } from '../services.ts';
import { agentOfScope } from '../tenancy.ts';
import { deployedSecrets } from './deployed-secrets.ts';
import { withoutStrays } from './stray-errors.ts';

/**
 * Works on the shards of runs that a queue brings. A message that fails is named in the answer and comes again; when it
 * has failed as often as the queue delivers, its shard is given up and the queue dead-letters it.
 */
export const handler = async (event: SQSEvent, context: Context): Promise<SQSBatchResponse> => {
  // Before anything is waited for: a process may have several hosts.
  const given = services();
  serviceLog(context);
  const work = (record: SQSRecord) => workRecord(record, given, () => context.getRemainingTimeInMillis());
  const processor = new BatchProcessor(EventType.SQS);
  try {
    return await processPartialResponse(event, work, processor, { context, throwOnFullBatchFailure: false });
  } finally {
    publishMetrics();
  }
};

async function workRecord(record: SQSRecord, given: Services, remainingMs: () => number): Promise<void> {
  let message: RunMessage | undefined;
  try {
    const parsed = parseRunMessage(record.body);
    message = parsed;
    await withoutStrays(
      (error) => void noteStray(given, parsed, error),
      () => workShard(lifecycleEngine(given, deployedSecrets), parsed, { remainingMs, stop: given.stop }),
    );
  } catch (error) {
    logFailure('a message of a run failed', record, message, error);
    if (message !== undefined && isLastDelivery(record)) await giveUp(record, given, message, error);
    else await comeAgain(record, given, message, error);
    given.onMessageFailed?.(error);
    // Whatever was thrown: the processor reads the message of an error.
    throw new Error('the message failed', { cause: error });
  }
}

/** A handler's, but of which session is not known: its job may have ended before. What it says may quote a message. */
async function noteStray(given: Services, message: RunMessage, error: unknown): Promise<void> {
  const { agent, runId, shard } = message;
  const described = { ...loggableScope(agent), runId, shard };
  const { logger = jobLog() } = given;
  logger.error('an error of a handler that nobody waited for', { agent, runId, shard, thrown: error });
  try {
    const { limits } = given.agents.get(agentOfScope(agent)) ?? {};
    const runtime = createRuntime(agent, { stores: runtimeStores(given), maxErrors: limits?.maxErrors });
    const { reason } = jobErrorOf(error);
    await runtime.recordError({ where: 'stray', msg: reason, stack: stackOf(error), runId });
  } catch (failure) {
    serviceLog().error('it could not be written to the error log', { ...described, ...loggable(failure) });
  }
}

function isLastDelivery({ attributes }: SQSRecord): boolean {
  return Number(attributes.ApproximateReceiveCount) >= runReceiveLimit;
}

/** By how often a message has failed: trouble of a moment costs half a minute, and that of half an hour is outlasted. */
const pausesSecs = [30, 120, 480, 1800];

/** Left alone, the message would wait as long as that of a worker that died. */
async function comeAgain(
  record: SQSRecord,
  given: Services,
  message: RunMessage | undefined,
  cause: unknown,
): Promise<void> {
  // Another worker has the same message: it is that worker's to say.
  if (cause instanceof ShardTakenError) return;
  const pause = pausesSecs[Number(record.attributes.ApproximateReceiveCount) - 1] ?? 0;
  try {
    // What is not one of ours never will be: the sooner it is dead-lettered.
    await lifecycleStores(given).queue.redeliver?.(record.receiptHandle, message === undefined ? 0 : pause);
  } catch (error) {
    logFailure('a message of a run comes again late', record, message, error);
  }
}

/** Where this fails too, the run stays as it is until its lease is over; the message is dead-lettered all the same. */
async function giveUp(
  record: SQSRecord,
  given: Services,
  message: RunMessage,
  cause: unknown,
): Promise<void> {
  try {
    await abandonShard(lifecycleEngine(given), message, cause);
  } catch (error) {
    logFailure('a shard of a run could not be given up', record, message, error);
  }
}

function logFailure(text: string, record: SQSRecord, message: RunMessage | undefined, error: unknown): void {
  serviceLog().error(text, {
    received: record.attributes.ApproximateReceiveCount,
    ...(message && { ...loggableScope(message.agent), runId: message.runId, shard: message.shard }),
    ...loggable(error),
  });
}
