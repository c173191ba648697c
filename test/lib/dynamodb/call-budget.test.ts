import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { callAttempts } from '../../../lib/defaults.ts';
import { boundedClient, clientOfOneCall, inOneCall } from '../../../lib/dynamodb/call-budget.ts';
import { UnavailableError } from '../../../lib/errors.ts';
import { sdkError } from '../../support/failing-client.ts';

type Send = (command: unknown, options: { abortSignal: AbortSignal }) => Promise<unknown>;

describe('the limits of a call', () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  const sending = (send: Send) => {
    const client = boundedClient({ send } as never);
    return () => client.send({} as never);
  };

  test('it gives up after 16 failed attempts, those of the SDK included, and says why', async () => {
    let sent = 0;
    const send = sending(async () => {
      sent++;
      throw sdkError('ThrottlingException', 4);
    });

    const given = await inOneCall(async () => {
      for (;;) await send().catch((error) => error instanceof UnavailableError && Promise.reject(error));
    }).catch((error: unknown) => error);

    expect(given).toMatchObject({ code: 'unavailable', throttled: true, retryable: true });
    expect(sent * 4).toBe(callAttempts);
  });

  test('attempts that failed before an answer came count as well, a failed condition does not', async () => {
    const answers = [{ $metadata: { attempts: 13 } }, { $metadata: { attempts: 13 } }];
    const send = sending(async () => {
      const answer = answers.shift();
      if (answer === undefined) throw sdkError('ConditionalCheckFailedException');
      return answer;
    });

    await inOneCall(async () => {
      for (let request = 0; request < 2; request++) await send();

      await expect(send()).rejects.toThrow(UnavailableError);
    });
    await inOneCall(async () => {
      for (let request = 0; request < 100; request++) {
        await expect(send()).rejects.toThrow('ConditionalCheckFailedException');
      }
    });
  });

  test('answers make up for failures ahead, but not for an outage', async () => {
    let [answered, failed] = [0, 0];
    const send = sending(async () => {
      if (answered++ < 100) return {};
      failed++;
      throw sdkError('ThrottlingException');
    });

    await inOneCall(async () => {
      for (let request = 0; request < 100; request++) await send();

      for (;;) await send().catch((error) => error instanceof UnavailableError && Promise.reject(error));
    }).catch(() => undefined);

    expect(failed).toBe(2 * callAttempts);
  });

  test.each([
    ['four failures goes on', 4, 100],
    ['five failures comes to its end', 5, callAttempts - 4],
  ])('a call in which each answer follows %s', async (_what, failures, rounds) => {
    let sent = 0;
    const send = sending(async () => {
      if (sent++ % (failures + 1) === failures) return {};
      throw sdkError('TimeoutError');
    });

    await inOneCall(async () => {
      while (sent < 100 * (failures + 1))
        await send().catch((error) => error instanceof UnavailableError && Promise.reject(error));
    }).catch(() => {});

    expect(Math.ceil(sent / (failures + 1))).toBe(rounds);
  });

  test.each([
    ['an answer', async () => ({})],
    ['an error', () => Promise.reject(sdkError('TimeoutError'))],
  ])('%s leaves no timer behind, which would keep the process', async (_what, answer) => {
    await inOneCall(() => sending(answer)()).catch(() => {});

    expect(vi.getTimerCount()).toBe(0);
  });

  test('a request that belongs to no call has no limits', async () => {
    let sent = 0;
    const send = sending(async () => {
      sent++;
      throw sdkError('TimeoutError', callAttempts);
    });

    for (const count of [1, 2, 3]) {
      await expect(send()).rejects.toThrow('TimeoutError');
      expect(sent).toBe(count);
    }
  });

  test('once one has failed, nothing is sent after 15 seconds; a call that only takes long goes on', async () => {
    let fails = false;
    const send = sending(async () => {
      if (fails) throw sdkError('TimeoutError');
      return {};
    });

    await inOneCall(async () => {
      vi.advanceTimersByTime(60_000);
      await send();
      fails = true;
      await expect(send()).rejects.toThrow('TimeoutError');

      await expect(send()).rejects.toThrow(UnavailableError);
    });
  });

  test('a request without an answer ends with its call, and has five seconds at the least', async () => {
    const send = sending(
      (_command, { abortSignal }) =>
        new Promise((_resolve, reject) => {
          abortSignal.addEventListener('abort', () => reject(sdkError('AbortError')));
        }),
    );
    const endedAfter = async (elapsedMs: number) =>
      inOneCall(async () => {
        vi.advanceTimersByTime(elapsedMs);
        const startedAt = performance.now();
        const ended = send().catch((error: unknown) => error);
        await vi.runAllTimersAsync();
        expect(await ended).toBeInstanceOf(UnavailableError);
        expect(await ended).toMatchObject({ cause: { name: 'AbortError' } });
        return performance.now() - startedAt;
      });

    expect(await endedAfter(0)).toBe(15_000);
    expect(await endedAfter(12_000)).toBe(5_000);
  });

  test('calls within a call share its limits, and those of work that it left going have their own', async () => {
    let leftGoing: (() => Promise<unknown>) | undefined;
    const send = sending(async () => {
      throw sdkError('TimeoutError', 20);
    });

    await inOneCall(async () => {
      await inOneCall(send).catch(() => {});
      await expect(inOneCall(send)).rejects.toThrow(UnavailableError);
      const { AsyncResource } = await import('node:async_hooks');
      leftGoing = AsyncResource.bind(() => inOneCall(send));
    });

    await expect(leftGoing?.()).rejects.toThrow('TimeoutError');
  });

  test('a client of one call has them to itself, and says which error was the last', async () => {
    const failure = sdkError('TimeoutError', callAttempts);
    const client = clientOfOneCall({ send: () => Promise.reject(failure) } as never);
    const send = () => client.send({} as never);

    await expect(send()).rejects.toThrow('TimeoutError');
    const refused = await send().catch((error: unknown) => error);

    expect(refused).toBeInstanceOf(UnavailableError);
    expect(refused).toMatchObject({ cause: failure, throttled: false });
  });

  test.each([
    ['an answer', async () => ({ $metadata: { attempts: 2 } })],
    ['a failed condition', () => Promise.reject(sdkError('ConditionalCheckFailedException', 2))],
  ])('%s that came after a failed attempt ends the call after 15 seconds too', async (_what, answer) => {
    const send = sending(answer);

    await inOneCall(async () => {
      await send().catch(() => {});
      vi.advanceTimersByTime(15_000);

      await expect(send()).rejects.toThrow(UnavailableError);
    });
  });

  test('a condition that fails at once is no failed attempt: the call may take its time', async () => {
    const send = sending(() => Promise.reject(sdkError('ConditionalCheckFailedException')));

    await inOneCall(async () => {
      for (const elapsedMs of [0, 60_000]) {
        vi.advanceTimersByTime(elapsedMs);
        await expect(send()).rejects.toThrow('ConditionalCheckFailedException');
      }
    });
  });
});
