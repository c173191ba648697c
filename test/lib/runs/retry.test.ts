import { expect, onTestFinished, test, vi } from 'vitest';
import { storageRetryMaxMs } from '../../../lib/defaults.ts';
import { UnavailableError } from '../../../lib/errors.ts';
import { type RetryOptions, withRetries } from '../../../lib/runs/retry.ts';
import { RunNotFoundError } from '../../../lib/runs/run-error.ts';

/** Work that fails `failures` times before it succeeds, and the pauses that were made. */
const failing = (failures: number, error: unknown, options: Partial<RetryOptions> = {}) => {
  const pauses: number[] = [];
  let calls = 0;
  const pause = async (ms: number) => void pauses.push(ms);
  const done = withRetries({ attempts: 4, baseMs: 100, random: () => 0.5, pause, ...options }, async () => {
    if (++calls <= failures) throw error;
    return 'done';
  });
  return { done, pauses, calls: () => calls };
};

test('what is away for a moment is tried again, after pauses that grow', async () => {
  const { done, pauses, calls } = failing(3, new UnavailableError('away'));

  expect(await done).toBe('done');
  expect(calls()).toBe(4);
  expect(pauses).toEqual([100, 200, 400]);
});

test('what stays away is given up after so many attempts, with its error', async () => {
  const away = new UnavailableError('away');
  const { done, calls } = failing(9, away);

  await expect(done).rejects.toBe(away);
  expect(calls()).toBe(4);
});

test.each([
  ['of ours that says that trying again cannot help', new RunNotFoundError('r')],
  ['of somebody else', Object.assign(new Error('away'), { retryable: true })],
])('an error %s is not tried again', async (_which, error) => {
  const { done, calls } = failing(1, error);

  await expect(done).rejects.toBe(error);
  expect(calls()).toBe(1);
});

test('attempts that take long are given up when the time for them is over', async () => {
  vi.useFakeTimers({ toFake: ['performance'] });
  onTestFinished(() => void vi.useRealTimers());
  const pause = async () => void vi.advanceTimersByTime(storageRetryMaxMs / 2);
  const { done, calls } = failing(9, new UnavailableError('away'), { attempts: 9, pause });

  await expect(done).rejects.toMatchObject({ code: 'unavailable' });
  expect(calls()).toBe(3);
});
