import { describe, expect, test } from 'vitest';
import { runSilentLooks, runWatchSecs } from '../../../lib/defaults.ts';
import { type Deliver, inMemoryRunQueue } from '../../../lib/in-memory/run-queue.ts';
import { resumeRuns } from '../../../lib/runs/resume-runs.ts';
import type { Overlap } from '../../../lib/runs/run.ts';
import type { RunEngineOptions } from '../../../lib/runs/run-engine.ts';
import { startRun } from '../../../lib/runs/start-run.ts';
import { workShard } from '../../../lib/runs/work-shard.ts';
import { engineUnderTest, hardlyAnyTime } from '../../support/engine-under-test.ts';
import { mortalEngine, type WriteFate } from '../../support/mortal-engine.ts';

const digest = { agent: 'support', action: 'digest' };
const noProgressFor3Hours = 'no worker has got any further with it for 3 hours';

/** An engine whose queue holds back what comes later, until a quarter of an hour passes. */
const watched = (options: Partial<RunEngineOptions> = {}) => {
  let later: (() => void)[] = [];
  const queue = inMemoryRunQueue({
    later: (then, ms) => {
      expect(ms).toBe(runWatchSecs * 1000);
      later.push(then);
    },
  });
  const under = engineUnderTest({ actions: { digest: () => 'fine' } }, { pageSize: 2, ...options, queue });
  const passQuarter = async (work: Deliver = (message) => workShard(under.engine, message)) => {
    const due = later;
    later = [];
    for (const then of due) then();
    await queue.drain(work);
    return due.length;
  };
  const onlyRun = async () => (await under.engine.runs.list({ agent: 'support', limit: 2 })).items[0];
  return { ...under, queue, passQuarter, onlyRun };
};

/** A worker that Lambda ends: it has no say in what becomes of its message. */
const timedOut = () => Promise.reject(new Error('the worker was killed'));

describe.each<Overlap>(['allow', 'skip'])('with overlap %s, a run', (overlap) => {
  test('whose worker is killed on every delivery of a shard, the last one too, ends as failed after 3 hours', async () => {
    const { engine, queue, register, passQuarter } = watched();
    await register(80);
    const { run } = await startRun(engine, { ...digest, overlap });
    const killed = async () =>
      queue.drain((message) =>
        message.shard === 3 && !message.watch ? timedOut() : workShard(engine, message),
      );
    await killed();
    expect(queue.deadLetters.map(({ message }) => message.shard)).toEqual([3]);
    expect(await engine.runs.get(run)).toMatchObject({ status: 'running', pending: [3] });

    for (let look = 1; look <= runSilentLooks; look++) await passQuarter();
    expect(await engine.runs.get(run)).toMatchObject({ status: 'running' });
    await passQuarter();

    const ended = await engine.runs.get(run);
    expect(ended).toMatchObject({ status: 'failed', reason: noProgressFor3Hours });
    expect(ended?.sessions).toBeGreaterThan(60);
    expect(await passQuarter()).toBe(0);
    expect((await startRun(engine, { ...digest, overlap })).status).toBe('started');
  });

  test.each(
    ['create', 'acquire', 'admit', 'send', 'markDispatched'].flatMap((write) =>
      (['dies before', 'dies after'] as const).map((fate): [WriteFate, string] => [fate, write]),
    ),
  )('that was asked for by a process which %s %s ends', async (fate, write) => {
    const { engine, queue, register, passQuarter, onlyRun } = watched();
    await register(80);
    const mortal = mortalEngine(engine, (name) => (name === write ? fate : 'lives'));
    await startRun(mortal, { ...digest, overlap }).catch(() => {});
    await queue.drain((message) => workShard(engine, message));

    for (let look = 0; look <= runSilentLooks; look++) await passQuarter();

    const run = await onlyRun();
    const neverWritten = write === 'create' && fate === 'dies before';
    expect(run?.status).toBeOneOf(neverWritten ? [undefined] : ['completed', 'failed']);
    expect(await passQuarter()).toBe(0);
    expect(queue.deadLetters).toEqual([]);
    expect((await startRun(engine, { ...digest, overlap })).status).toBe('started');
  });

  test('that has ended is looked at once more, and then no more', async () => {
    const { engine, queue, register, passQuarter } = watched();
    await register(3);
    await startRun(engine, { ...digest, overlap });
    await queue.drain((message) => workShard(engine, message));

    expect(await passQuarter()).toBe(1);
    expect(await passQuarter()).toBe(0);
  });

  test('that gets a page further every 2 hours and 45 minutes is slow, and goes on', async () => {
    const { engine, register, queue, passQuarter } = watched({ pageSize: 1 });
    await register(64);
    const { run } = await startRun(engine, { ...digest, overlap });
    const patient = { ...engine, leaseMs: 1e9 };
    const shards = new Set<string>();
    /** Looks at the run; shards wait for their turn. */
    const look: Deliver = async (message) => {
      if (message.watch === undefined) shards.add(JSON.stringify(message));
      else await workShard(engine, message);
    };
    let looks = 0;
    for (let rounds = 0; (await engine.runs.get(run))?.status === 'running' && rounds < 100; rounds++) {
      await queue.drain(look);
      const [next] = shards;
      if (next === undefined) break;
      shards.delete(next);
      await workShard(patient, JSON.parse(next), { remainingMs: hardlyAnyTime() });
      for (let quarter = 0; quarter < 11; quarter++) looks += await passQuarter(look);
    }

    expect(looks).toBeGreaterThan(100);
    expect(await engine.runs.get(run)).toMatchObject({ status: 'completed', sessions: 64 });
  });
});

test('a run that goes on after a restart is watched again', async () => {
  const before = watched();
  await before.register(8);
  const { run } = await startRun(before.engine, digest);
  const { runs, leases, stores } = before.engine;
  const after = watched({ runs, leases, stores });

  await resumeRuns(after.engine, 'support');
  await after.queue.drain((message) => (message.watch ? Promise.resolve() : timedOut()));
  for (let look = 0; look <= runSilentLooks; look++) await after.passQuarter();

  expect(await runs.get(run)).toMatchObject({ status: 'failed', reason: noProgressFor3Hours });
});
