import { SQSClient } from '@aws-sdk/client-sqs';
import { dynamoDbRuns } from '../lib/dynamodb/dynamodb-runs.ts';
import { runsTable } from '../lib/dynamodb/tables.ts';
import { environment } from '../lib/environment.ts';
import type { Secrets } from '../lib/lifecycle/secrets.ts';
import { type AgentHandles, agentHandle } from '../lib/persistence/agent-handle.ts';
import { type RunEngine, runEngine } from '../lib/runs/run-engine.ts';
import type { RunStore } from '../lib/runs/run-store.ts';
import { sqsRunQueue } from '../lib/sqs/sqs-run-queue.ts';
import { jobLog } from './log.ts';
import { noteJobs, noteRunEnd } from './metrics.ts';
import { once } from './once.ts';
import { runtimeStores } from './runtime-stores.ts';
import {
  clientSettings,
  dynamoDb,
  type LifecycleStores,
  persistenceOf,
  type Services,
  tableNameOf,
} from './services.ts';
import { agentOfScope, scopeOf, tenantOfScope } from './tenancy.ts';

/** What dispatcher, workers and the routes of runs work with. */
export function lifecycleEngine(services: Services, secrets?: Secrets): RunEngine {
  const { agents, logger = jobLog() } = services;
  const { runs, leases, queue } = lifecycleStores(services);
  return runEngine({
    agents: { get: (scope) => agents.get(agentOfScope(scope)) },
    stores: runtimeStores(services),
    ...{ runs: countingJobs(runs), leases, queue },
    handles: instancesOf(services),
    secrets,
    logger,
    onEnd: noteRunEnd,
  });
}

/** Instances where the HTTP API keeps them: those of the tenant whose run it is. */
function instancesOf(services: Services): AgentHandles {
  return (from, name = agentOfScope(from)) => {
    const tenant = tenantOfScope(from);
    const persistence = persistenceOf(services, scopeOf(tenant, name));
    return { ...agentHandle(persistence, services.agents.get(name) ?? name), tenant };
  };
}

function countingJobs(runs: RunStore): RunStore {
  return {
    ...runs,
    async commitPage(shard, before, page) {
      const progress = await runs.commitPage(shard, before, page);
      if (progress !== undefined) noteJobs(page.jobs);
      return progress;
    },
  };
}

/** Where runs are, and their queue: the host's, or this process's own. */
export function lifecycleStores({ lifecycle }: Services): LifecycleStores {
  return lifecycle ?? ownStores();
}

const ownStores = once(
  (): LifecycleStores => ({
    ...dynamoDbRuns({ client: dynamoDb(), runsTable: tableNameOf(runsTable) }),
    queue: {
      send: async (messages) => ownQueue().send(messages),
      sendLater: async (messages, secs) => ownQueue().sendLater(messages, secs),
      redeliver: async (receipt, secs) => ownQueue().redeliver(receipt, secs),
    },
  }),
);

/** A function that only reads runs has no queue. */
const ownQueue = once(() => sqsRunQueue({ queueUrl: queueUrl(), client: new SQSClient(clientSettings) }));

function queueUrl(env: NodeJS.ProcessEnv = process.env): string {
  const url = env[environment.runQueueUrl];
  if (!url) throw new Error(`the environment variable ${environment.runQueueUrl} is not set`);
  return url;
}
