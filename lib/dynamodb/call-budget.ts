import { AsyncLocalStorage } from 'node:async_hooks';
import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { awsError } from '../aws-error.ts';
import { callAttempts, callMaxMs, requestMinMs } from '../defaults.ts';
import { UnavailableError } from '../errors.ts';
import { attemptsOf, isConditionFailure } from './translate-error.ts';

/*
 * A call of a store may be many requests, each of which the SDK repeats, in loops that start over. What is bounded is
 * the call: so many failed attempts, and so much time once one has failed. A call of many requests that
 * makes progress goes on: each answer makes up for four failures, and what answers make up for ahead is bounded, so that a
 * call gives up after twice as many attempts at the most when DynamoDB goes away in the middle of it. In all it makes no more
 * failed attempts than four times its answers and 16, beside those that are under way by then.
 */
const failuresPerAnswer = 4;

interface Budget {
  readonly startedAt: number;
  /** Attempts that failed, less those that answers made up for: no more of these than make the call give up. */
  failures: number;
  hasFailed: boolean;
  lastFailure?: unknown;
  isOver: boolean;
}

const budgets = new AsyncLocalStorage<Budget>();

/** Whatever the work asks of bounded clients counts as one call, also for calls within it, such as those of one HTTP request. */
export async function inOneCall<T>(work: () => Promise<T>): Promise<T> {
  const outer = budgets.getStore();
  if (outer !== undefined && !outer.isOver) return work();
  const budget = newBudget();
  try {
    return await budgets.run(budget, work);
  } finally {
    // Work that a call leaves going, such as a queue in this process, starts calls of its own.
    budget.isOver = true;
  }
}

function newBudget(): Budget {
  return { startedAt: performance.now(), failures: 0, hasFailed: false, isOver: false };
}

/** The client as a store uses it: within the limits of the call that a request belongs to. */
export function boundedClient(client: Pick<DynamoDBClient, 'send'>): DynamoDBClient {
  return clientWithin(client, () => budgets.getStore());
}

/**
 * The client of one call, which is bounded by itself alone. For the hot path: with AsyncLocalStorage in use, every promise
 * of the process costs more on Node.js below 24.
 */
export function clientOfOneCall(client: Pick<DynamoDBClient, 'send'>): DynamoDBClient {
  const budget = newBudget();
  return clientWithin(client, () => budget);
}

function clientWithin(
  client: Pick<DynamoDBClient, 'send'>,
  budgetNow: () => Budget | undefined,
): DynamoDBClient {
  const send = async (command: Parameters<DynamoDBClient['send']>[0]) => {
    const budget = budgetNow();
    if (budget === undefined) return client.send(command);
    const elapsed = performance.now() - budget.startedAt;
    if (budget.failures >= callAttempts || (budget.hasFailed && elapsed >= callMaxMs))
      throw exhausted(budget);

    const abort = new AbortController();
    const timer = setTimeout(() => abort.abort(), Math.max(requestMinMs, callMaxMs - elapsed));
    try {
      const answer = await client.send(command, { abortSignal: abort.signal });
      noteAnswer(budget, attemptsOf(answer));
      budget.hasFailed ||= attemptsOf(answer) > 1;
      return answer;
    } catch (error) {
      const attempts = attemptsOf(error);
      const isAnswer = isConditionFailure(error);
      if (isAnswer) noteAnswer(budget, attempts);
      else budget.failures += attempts;
      budget.hasFailed ||= !isAnswer || attempts > 1;
      budget.lastFailure = error;
      if (abort.signal.aborted)
        throw new UnavailableError('DynamoDB did not answer in time', { cause: error });
      throw error;
    } finally {
      clearTimeout(timer);
    }
  };
  return { send } as unknown as DynamoDBClient;
}

/** The last of so many attempts was answered. */
function noteAnswer(budget: Budget, attempts: number): void {
  budget.failures = Math.max(-callAttempts, budget.failures + attempts - 1 - failuresPerAnswer);
}

function exhausted({ lastFailure }: Budget): UnavailableError {
  const { throttled } = awsError('DynamoDB', lastFailure);
  return new UnavailableError('DynamoDB failed too often, or for too long, during this call', {
    cause: lastFailure,
    throttled,
  });
}
