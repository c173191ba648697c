import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { type DeadLetter, inMemoryRunQueue } from '../../../lib/in-memory/run-queue.ts';
import { isRunId, requestedRunId, scheduledRunId } from '../../../lib/runs/run-id.ts';
import { formatRunMessage, parseRunMessage, type RunMessage } from '../../../lib/runs/run-message.ts';

const runId = requestedRunId(new Date('2027-01-01T00:00:00.250Z'), 'unique');
const message: RunMessage = { v: 1, agent: 'support', runId, shard: 15, dispatchId: 't', handOvers: 0 };

describe('a message', () => {
  test('comes out of a queue as it went in, without what is not of it', () => {
    const watch = { seen: '3:7', looks: 2 };

    expect(parseRunMessage(formatRunMessage(message))).toEqual(message);
    expect(parseRunMessage(formatRunMessage({ ...message, watch }))).toEqual({ ...message, watch });
    expect(parseRunMessage(JSON.stringify({ ...JSON.parse(formatRunMessage(message)), extra: 1 }))).toEqual(
      message,
    );
  });

  test('has the fields that it has had in every release: earlier ones may lie in a queue', () => {
    expect(JSON.parse(formatRunMessage({ ...message, watch: { seen: '', looks: 0 } }))).toEqual({
      ...{ v: 1, agent: 'support', runId, shard: 15, token: 't', hop: 0, watch: { seen: '', looks: 0 } },
    });
  });

  test('that is not one of ours is refused', () => {
    const broken = [
      ...['', 'no JSON', 'null', '[]', '7', '{}'],
      ...[
        { v: 2 },
        { agent: 1 },
        { runId: 'a/b' },
        { token: undefined },
        { shard: 16 },
        { shard: -1 },
        { shard: 0.5 },
        { hop: '0' },
        { watch: null },
        { watch: { seen: '', looks: -1 } },
        { watch: { looks: 1 } },
      ].map((change) => JSON.stringify({ ...JSON.parse(formatRunMessage(message)), ...change })),
    ];

    for (const body of broken)
      expect(() => parseRunMessage(body), body).toThrow(
        expect.objectContaining({ code: 'invalid_run_message', retryable: false }),
      );
  });
});

describe("a run's id", () => {
  test('is decided by agent, schedule and time of the tick, whatever characters they hold', () => {
    const time = new Date('2027-01-01T00:00:00Z');
    const later = new Date('2027-01-01T00:01:00Z');
    const ids = [
      scheduledRunId('a', 'b', time),
      scheduledRunId('a', 'b', later),
      scheduledRunId('a","b', 'c', time),
      scheduledRunId('a', 'b","c', time),
      scheduledRunId('ab', '', time),
    ];

    expect(new Set(ids).size).toBe(ids.length);
    expect(scheduledRunId('a', 'b', new Date(time))).toBe(ids[0]);
    expect(ids.every(isRunId)).toBe(true);
  });

  test('sorts by time', () => {
    const times = ['2027-01-01T00:00:00.009Z', '2027-01-01T00:00:00.010Z', '2027-10-01T00:00:00Z'];

    const ids = times.map((time, index) => requestedRunId(new Date(time), `${9 - index}`));

    expect([...ids].sort()).toEqual(ids);
  });
});

describe('the queue of a process', () => {
  test('delivers what rejects again after the others, and dead-letters it at the receive limit', async () => {
    const told: DeadLetter[] = [];
    const queue = inMemoryRunQueue({ receiveLimit: 3, onDeadLetter: (letter) => told.push(letter) });
    await queue.send([0, 1, 2].map((shard) => ({ ...message, shard })));

    const seen: [shard: number, received: number][] = [];
    await queue.drain(async ({ shard }, received) => {
      seen.push([shard, received]);
      if (shard === 1) throw new Error('poison');
    });

    expect(seen).toEqual([...[0, 1, 2].map((shard) => [shard, 1]), [1, 2], [1, 3]]);
    expect(queue.deadLetters).toEqual([{ message: { ...message, shard: 1 }, error: new Error('poison') }]);
    expect(told).toEqual(queue.deadLetters);
  });

  test('delivers each message to one of two that drain it at once', async () => {
    const queue = inMemoryRunQueue();
    await queue.send([0, 1, 2].map((shard) => ({ ...message, shard })));
    const seen: number[] = [];
    const deliver = async ({ shard }: RunMessage) => void seen.push(shard);

    await Promise.all([queue.drain(deliver), queue.drain(deliver)]);

    expect(seen.toSorted()).toEqual([0, 1, 2]);
    expect(queue.deadLetters).toEqual([]);
  });

  test('lets what rejects wait where it is asked to, and tells its host when it is back', async () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    let told = 0;
    const queue = inMemoryRunQueue({ receiveLimit: 3, redeliveryMs: 1_000, onMessage: () => told++ });
    const received: number[] = [];
    const fail = async (_message: RunMessage, time: number) => {
      received.push(time);
      throw new Error('away');
    };
    await queue.send([message]);

    await queue.drain(fail);
    vi.advanceTimersByTime(999);
    expect([queue.waiting, told]).toEqual([0, 1]);
    vi.advanceTimersByTime(1);
    expect([queue.waiting, told]).toEqual([1, 2]);
    await queue.drain(fail);
    vi.advanceTimersByTime(1_000);
    await queue.drain(fail);

    expect(received).toEqual([1, 2, 3]);
    expect(queue.deadLetters).toHaveLength(1);
    expect(vi.getTimerCount()).toBe(0);
  });

  test('delivers several at once, those too that come meanwhile, and tells its host of them', async () => {
    let told = 0;
    const queue = inMemoryRunQueue({ onMessage: () => told++ });
    await queue.send([message]);
    let [active, most, delivered] = [0, 0, 0];

    await queue.drain(async ({ handOvers }) => {
      most = Math.max(most, ++active);
      if (handOvers < 2) await queue.send([1, 2, 3].map(() => ({ ...message, handOvers: handOvers + 1 })));
      await new Promise((resolve) => setImmediate(resolve));
      active--;
      delivered++;
    }, 4);

    expect(delivered).toBe(1 + 3 + 9);
    expect(most).toBe(4);
    expect(told).toBe(1 + 1 + 3);
  });
});
