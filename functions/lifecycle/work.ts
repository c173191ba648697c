import { BatchProcessor, EventType, processPartialResponse } from '@aws-lambda-powertools/batch';
import type { Context, SQSBatchResponse, SQSEvent, SQSRecord } from 'aws-lambda';
import { runReceiveLimit } from '../../lib/defaults.ts';
import { abandonShard } from '../../lib/runs/abandon-shard.ts';
import { parseRunMessage } from '../../lib/runs/run-message.ts';
import { workShard } from '../../lib/runs/work-shard.ts';
import { lifecycleEngine } from '../lifecycle-engine.ts';
import { loggable } from '../loggable.ts';
import { logger } from '../logger.ts';
import { noteSessions, publishMetrics } from '../metrics.ts';
import { type Services, services } from '../services.ts';

/**
 * Works on the shards of runs that a queue brings. A message that fails is named in the answer and comes again; when it
 * has failed as often as the queue delivers, its shard is given up and the queue sets it aside.
 */
export const handler = async (event: SQSEvent, context: Context): Promise<SQSBatchResponse> => {
  const given = services();
  logger().addContext(context);
  const work = (record: SQSRecord) => workRecord(record, given, () => context.getRemainingTimeInMillis());
  // It keeps what failed: one for each call, since a host may have several under way.
  const processor = new BatchProcessor(EventType.SQS);
  try {
    return await processPartialResponse(event, work, processor, { context, throwOnFullBatchFailure: false });
  } finally {
    publishMetrics();
  }
};

async function workRecord(
  { body, attributes }: SQSRecord,
  given: Services,
  remainingMs: () => number,
): Promise<void> {
  try {
    const message = parseRunMessage(body);
    const engine = lifecycleEngine(given);
    try {
      noteSessions(await workShard(engine, message, { remainingMs }));
    } catch (error) {
      const isLast = Number(attributes.ApproximateReceiveCount) >= runReceiveLimit;
      if (isLast) await abandonShard(engine, message, error);
      throw error;
    }
  } catch (error) {
    logger().error('a message of a run failed', {
      received: attributes.ApproximateReceiveCount,
      ...loggable(error),
    });
    given.onMessageFailed?.(error);
    throw error;
  }
}
