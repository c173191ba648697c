import { expect, test } from 'vitest';
import { inMemoryRunQueue } from '../../../lib/in-memory/run-queue.ts';
import { requestedRunId } from '../../../lib/runs/run-id.ts';

const message = { v: 1, agent: 'support', shard: 0, dispatchId: 'once', handOvers: 0 } as const;

test('of dead letters the newest 1,000 are kept; whoever wants to know is told of each', async () => {
  const told: string[] = [];
  const queue = inMemoryRunQueue({ onDeadLetter: ({ message: { runId } }) => void told.push(runId) });
  const { deadLetters } = queue;
  const at = new Date('2027-01-01T00:00:00Z');
  const runIds = Array.from({ length: 1_003 }, (_, index) => requestedRunId(at, `${index}`));
  await queue.send(runIds.map((runId) => ({ ...message, runId })));

  await queue.drain(() => Promise.reject(new Error('away')));

  expect(told).toEqual(runIds);
  expect(deadLetters.map(({ message: { runId } }) => runId)).toEqual(runIds.slice(3));
});
