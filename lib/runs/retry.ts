import { storageRetryMaxMs } from '../defaults.ts';
import { DormouseError } from '../errors.ts';

export interface RetryOptions {
  readonly attempts: number;
  readonly baseMs: number;
  readonly pause: (ms: number) => Promise<void>;
  /** From 0 to 1. */
  readonly random: () => number;
}

/**
 * Does work that can be repeated until it succeeds, a bounded number of times, where its error says that this may
 * help, and for a bounded time. The pauses grow, and by chance: workers that were throttled together do not come back together.
 */
export async function withRetries<T>(options: RetryOptions, work: () => Promise<T>): Promise<T> {
  const { attempts, baseMs, pause, random } = options;
  const giveUpAt = performance.now() + storageRetryMaxMs;
  for (let attempt = 1; ; attempt++) {
    try {
      return await work();
    } catch (error) {
      if (
        attempt >= attempts ||
        performance.now() >= giveUpAt ||
        !(error instanceof DormouseError) ||
        !error.retryable
      )
        throw error;
      await pause(random() * baseMs * 2 ** attempt);
    }
  }
}
