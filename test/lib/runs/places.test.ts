import { expect, test } from 'vitest';
import { requestedRunsMax } from '../../../lib/defaults.ts';
import { TooManyRunsError } from '../../../lib/runs/run-error.ts';
import { requestedRunId, timeOfRunId } from '../../../lib/runs/run-id.ts';
import { startRun } from '../../../lib/runs/start-run.ts';
import { engineUnderTest } from '../../support/engine-under-test.ts';

const digest = { agent: 'support', action: 'digest', overlap: 'allow' } as const;

const full = async () => {
  const under = engineUnderTest({ actions: { digest: () => 'fine' } });
  const started = await Promise.all(
    Array.from({ length: requestedRunsMax }, () => startRun(under.engine, digest)),
  );
  return { ...under, started };
};

test('of requested runs that overlap, no more than there are places for are under way', async () => {
  const { engine, work } = await full();

  await expect(startRun(engine, digest)).rejects.toBeInstanceOf(TooManyRunsError);
  await work();

  expect((await startRun(engine, digest)).status).toBe('started');
});

test('runs of ticks, and those that do not overlap, need no place', async () => {
  const { engine } = await full();
  const tick = { schedule: 'nightly', at: new Date(0) };

  expect((await startRun(engine, { ...digest, tick })).status).toBe('started');
  expect((await startRun(engine, { ...digest, overlap: 'skip' })).status).toBe('started');
});

test('the place of a run whose end was noted by nobody is found out', async () => {
  const { engine, started } = await full();
  const [first] = started;
  if (first === undefined) throw new Error('nothing was started');
  await engine.runs.end(first.run, { status: 'failed', at: engine.clock() });

  expect((await startRun(engine, digest)).status).toBe('started');
  await expect(startRun(engine, digest)).rejects.toBeInstanceOf(TooManyRunsError);
});

test('a place that was taken for a run which was never written is free after a quarter of an hour', async () => {
  const { engine, clock } = engineUnderTest({ actions: { digest: () => 'fine' } });
  for (let index = 0; index < requestedRunsMax; index++)
    await engine.leases.enter('support', requestedRunId(clock.now(), `u${index}`), requestedRunsMax);
  await expect(startRun(engine, digest)).rejects.toBeInstanceOf(TooManyRunsError);

  clock.advanceSecs(15 * 60 + 1);

  expect((await startRun(engine, digest)).status).toBe('started');
});

test('a run that could not be written, or sent, keeps no place', async () => {
  const { engine } = engineUnderTest({ actions: { digest: () => 'fine' } });
  const away = () => Promise.reject(new Error('away'));
  const broken = [
    { ...engine, runs: { ...engine.runs, create: away } },
    { ...engine, queue: { ...engine.queue, send: away } },
    { ...engine, queue: { ...engine.queue, sendLater: away } },
  ];
  for (let index = 0; index <= requestedRunsMax; index++)
    for (const one of broken) await expect(startRun(one, digest)).rejects.toThrow('away');

  expect((await startRun(engine, digest)).status).toBe('started');
});

test('the time in a run’s id is the one that it was made with', () => {
  const time = new Date('2027-03-04T05:06:07.089Z');

  expect(timeOfRunId(requestedRunId(time, 'u'))).toEqual(time);
});
