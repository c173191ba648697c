import { Logger } from '@aws-lambda-powertools/logger';
import { dynamoDbRuns } from '../lib/dynamodb/dynamodb-runs.ts';
import { runsTable } from '../lib/dynamodb/tables.ts';
import { environment } from '../lib/environment.ts';
import type { JobLogger } from '../lib/lifecycle/session-job.ts';
import { type RunEngine, runEngine } from '../lib/runs/run-engine.ts';
import type { RunQueue } from '../lib/runs/run-queue.ts';
import { sqsRunQueue } from '../lib/sqs/sqs-run-queue.ts';
import { noteRunEnd } from './metrics.ts';
import { runtimeStores } from './runtime-stores.ts';
import { dynamoDb, type LifecycleStores, type Services, tableNameOf } from './services.ts';
import { agentOfScope } from './tenancy.ts';

let logger: JobLogger | undefined;

/** What dispatcher, workers and the routes of runs work with. */
export function lifecycleEngine(services: Services): RunEngine {
  logger ??= jobLogger(new Logger({ serviceName: 'dormouse' }));
  const { agents } = services;
  return runEngine({
    agents: { get: (scope) => agents.get(agentOfScope(scope)) },
    stores: runtimeStores(services),
    ...lifecycleStores(services),
    logger,
    onEnd: noteRunEnd,
  });
}

function jobLogger(logger: Logger): JobLogger {
  return {
    info: (message, details = {}) => logger.info(message, details),
    warn: (message, details = {}) => logger.warn(message, details),
    error: (message, details = {}) => logger.error(message, details),
  };
}

let made: LifecycleStores | undefined;

/** Where runs are, and their queue: the host's, or this process's own. */
export function lifecycleStores({ lifecycle }: Services): LifecycleStores {
  if (lifecycle !== undefined) return lifecycle;
  made ??= { ...dynamoDbRuns({ client: dynamoDb(), runsTable: tableNameOf(runsTable) }), queue: ownQueue() };
  return made;
}

/** On first use: a function that only reads runs has no queue. */
function ownQueue(): RunQueue {
  let queue: RunQueue | undefined;
  return {
    send(messages) {
      queue ??= sqsRunQueue({ queueUrl: queueUrl() });
      return queue.send(messages);
    },
  };
}

function queueUrl(env: NodeJS.ProcessEnv = process.env): string {
  const url = env[environment.runQueueUrl];
  if (!url) throw new Error(`the environment variable ${environment.runQueueUrl} is not set`);
  return url;
}
