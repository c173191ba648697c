import type { Context, SQSEvent } from 'aws-lambda';
import { handler as work } from '../../functions/lifecycle/work.ts';
import { type Services, useServices } from '../../functions/services.ts';
import type { AgentDefinition } from '../../lib/agents/agent-definition.ts';
import { indexAgents } from '../../lib/agents/define-agent.ts';
import { type InMemoryRunQueue, inMemoryRunQueue } from '../../lib/in-memory/run-queue.ts';
import { inMemoryRuns } from '../../lib/in-memory/runs.ts';
import { memoryStore } from '../../lib/in-memory/snapshot-store.ts';
import { inMemoryStores } from '../../lib/in-memory/stores.ts';
import type { RunLeases } from '../../lib/runs/run-leases.ts';
import { formatRunMessage, type RunMessage } from '../../lib/runs/run-message.ts';
import type { RunStore } from '../../lib/runs/run-store.ts';
import type { RuntimeStores } from '../../lib/runtime/create-runtime.ts';

export interface LifecycleFunctions {
  readonly services: Services;
  readonly stores: RuntimeStores;
  readonly runs: RunStore;
  readonly leases: RunLeases;
  readonly queue: InMemoryRunQueue;
  /** Registers `count` sessions in a scope: an agent, or a tenant's agent. */
  register(count: number, scope?: string): Promise<void>;
  /** Gives the functions other services than these, until the next test. */
  give(changes: Partial<Services>): void;
  /** Brings the worker what waits in the queue, as Lambda does, until nothing is left. */
  drain(concurrency?: number): Promise<void>;
}

/** The functions of the lifecycle over stores of their own, in memory, until others are made. */
export function lifecycleFunctions(
  definitions: readonly AgentDefinition[],
  options: Partial<Services> = {},
): LifecycleFunctions {
  const queue = inMemoryRunQueue();
  const stores = inMemoryStores();
  const { runs, leases } = inMemoryRuns();
  const services: Services = {
    ...{ agents: indexAgents(definitions), strictAgents: false, tenantClaim: undefined },
    ...{ store: memoryStore(), stores, lifecycle: { runs, leases, queue } },
    ...options,
  };
  useServices(services);
  return {
    ...{ services, stores, runs, leases, queue },
    give: (changes) => useServices({ ...services, ...changes }),
    async register(count, scope = 'support') {
      for (let index = 1; index <= count; index++)
        await stores.sessions.register(scope, { id: `s${index}`, meta: {}, at: new Date() });
    },
    drain: (concurrency) =>
      queue.drain(async (message) => {
        const { batchItemFailures } = await work(sqsEvent([message]), lambdaContext());
        if (batchItemFailures.length > 0) throw new Error('the message was listed as failed');
      }, concurrency),
  };
}

/** What Lambda hands a worker: messages `m0`, `m1`, …; a body of text goes as it is. */
export function sqsEvent(bodies: readonly (RunMessage | string)[], received = 1): SQSEvent {
  return {
    Records: bodies.map((body, index) => ({
      messageId: `m${index}`,
      receiptHandle: `receipt-${index}`,
      body: typeof body === 'string' ? body : formatRunMessage(body),
      attributes: {
        ApproximateReceiveCount: String(received),
        ...{ SentTimestamp: '0', SenderId: 'sender', ApproximateFirstReceiveTimestamp: '0' },
      },
      messageAttributes: {},
      md5OfBody: '',
      eventSource: 'aws:sqs',
      eventSourceARN: 'arn:aws:sqs:eu-central-1:123456789012:runs',
      awsRegion: 'eu-central-1',
    })),
  };
}

export function lambdaContext(remainingMs = 300_000): Context {
  return {
    callbackWaitsForEmptyEventLoop: false,
    functionName: 'work',
    functionVersion: '1',
    invokedFunctionArn: 'arn:aws:lambda:eu-central-1:123456789012:function:work',
    memoryLimitInMB: '1024',
    awsRequestId: 'request-of-lambda',
    logGroupName: 'group',
    logStreamName: 'stream',
    getRemainingTimeInMillis: () => remainingMs,
    done() {},
    fail() {},
    succeed() {},
  };
}

/** A port of which every method that is named, or all of them, rejects. */
export function failing<Port extends object>(port: Port, error: unknown, methods?: readonly string[]): Port {
  return new Proxy(port, {
    get: (target, name) =>
      methods === undefined || methods.includes(String(name))
        ? () => Promise.reject(error)
        : Reflect.get(target, name),
  });
}
