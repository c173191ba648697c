import { expect, onTestFinished, test, vi } from 'vitest';
import { jobPageSize } from '../../../lib/defaults.ts';
import { UnavailableError } from '../../../lib/errors.ts';
import { runEngine } from '../../../lib/runs/run-engine.ts';
import { engineUnderTest } from '../../support/engine-under-test.ts';

test.each([1, jobPageSize])('a page may have %d jobs', (pageSize) => {
  expect(engineUnderTest({}, { pageSize }).engine.pageSize).toBe(pageSize);
});

test.each([0, -1, 1.5, Number.NaN, jobPageSize + 1])('a page of %d jobs is refused', (pageSize) => {
  expect(() => engineUnderTest({}, { pageSize })).toThrow(expect.objectContaining({ field: 'pageSize' }));
});

test('what is away for a moment is tried again, without being told how often', async () => {
  const random = vi.spyOn(Math, 'random').mockReturnValue(0);
  onTestFinished(() => random.mockRestore());
  const { agents, stores, runs, leases, queue } = engineUnderTest({}).engine;
  const engine = runEngine({ agents, stores, runs, leases, queue });
  let calls = 0;

  const done = engine.attempt(async () => {
    if (++calls < 3) throw new UnavailableError('away');
    return calls;
  });

  expect(await done).toBe(3);
  expect(random).toHaveBeenCalledTimes(2);
});
