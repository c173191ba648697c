import { BatchProcessor, EventType, processPartialResponse } from '@aws-lambda-powertools/batch';
import { Logger } from '@aws-lambda-powertools/logger';
import type { Context, SQSBatchResponse, SQSEvent, SQSRecord } from 'aws-lambda';
import { runReceiveLimit } from '../../lib/defaults.ts';
import { abandonShard } from '../../lib/runs/abandon-shard.ts';
import { parseRunMessage } from '../../lib/runs/run-message.ts';
import { workShard } from '../../lib/runs/work-shard.ts';
import { lifecycleEngine } from '../lifecycle-engine.ts';
import { loggable } from '../loggable.ts';
import { noteSessions, publishMetrics } from '../metrics.ts';
import { services } from '../services.ts';

const processor = new BatchProcessor(EventType.SQS);
const logger = new Logger({ serviceName: 'dormouse' });

/**
 * Works on the shards of runs that a queue brings. A message that fails is named in the answer and comes again; when it
 * has failed as often as the queue delivers, its shard is given up and the queue sets it aside.
 */
export const handler = async (event: SQSEvent, context: Context): Promise<SQSBatchResponse> => {
  logger.addContext(context);
  const work = (record: SQSRecord) => workRecord(record, () => context.getRemainingTimeInMillis());
  try {
    return await processPartialResponse(event, work, processor, { context, throwOnFullBatchFailure: false });
  } finally {
    publishMetrics();
  }
};

async function workRecord({ body, attributes }: SQSRecord, remainingMs: () => number): Promise<void> {
  try {
    const message = parseRunMessage(body);
    const engine = lifecycleEngine(services());
    try {
      noteSessions(await workShard(engine, message, { remainingMs }));
    } catch (error) {
      const isLast = Number(attributes.ApproximateReceiveCount) >= runReceiveLimit;
      if (isLast) await abandonShard(engine, message, error);
      throw error;
    }
  } catch (error) {
    logger.error('a message of a run failed', {
      received: attributes.ApproximateReceiveCount,
      ...loggable(error),
    });
    throw error;
  }
}
