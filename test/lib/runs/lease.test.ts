import { expect, test } from 'vitest';
import { sessionShards } from '../../../lib/defaults.ts';
import { startRun } from '../../../lib/runs/start-run.ts';
import { workShard } from '../../../lib/runs/work-shard.ts';
import { shardOf } from '../../../lib/sessions/shard-of.ts';
import { engineUnderTest } from '../../support/engine-under-test.ts';

const digest = { agent: 'support', action: 'digest' };

/** Sessions that all lie in one shard. */
const ofOneShard = (count: number) => {
  const ids: string[] = [];
  for (let index = 0; ids.length < count; index++)
    if (shardOf(`s${index}`, sessionShards) === 3) ids.push(`s${index}`);
  return ids;
};

const withSlowSessions = async (onVisit: (visit: number) => Promise<unknown>, secsPerSession: number) => {
  let visits = 0;
  const under = engineUnderTest(
    {
      actions: {
        digest: async () => {
          under.clock.advanceSecs(secsPerSession);
          await onVisit(++visits);
        },
      },
    },
    { pageSize: 1, leaseSecs: 100 },
  );
  for (const id of ofOneShard(12))
    await under.engine.stores.sessions.register('support', { id, meta: {}, at: under.clock.now() });
  return under;
};

test('a worker that stays at one shard for long hands it on, which prolongs the lease: no other run starts', async () => {
  const others: string[] = [];
  const under = await withSlowSessions(async (visit) => {
    if (visit > 1 && visit <= 12) others.push((await startRun(under.engine, digest)).status);
    // A quarter of the lease.
  }, 25);

  const { run } = await startRun(under.engine, digest);
  const outcomes: string[] = [];
  await under.queue.drain(async (message) => {
    const { outcome, ok } = await workShard(under.engine, message);
    if (ok > 0) outcomes.push(`${outcome} ${ok}`);
  });

  expect(outcomes).toEqual([...Array(11).fill('handed_over 1'), 'finished 1']);
  expect(await under.engine.runs.get(run)).toMatchObject({ status: 'completed', sessions: 12 });
  expect(others).toEqual(Array(11).fill('skipped'));
});

test('a worker that is quick stays at its shard to the end', async () => {
  const under = await withSlowSessions(async () => {}, 2);
  await startRun(under.engine, digest);
  const outcomes: unknown[] = [];

  await under.queue.drain(async (message) => {
    const work = await workShard(under.engine, message);
    if (work.ok > 0) outcomes.push(work);
  });

  expect(outcomes).toEqual([{ outcome: 'finished', ok: 12, failed: 0 }]);
});

test('a shard that is handed on while another run has taken the lease goes no further: its run fails, with the jobs that it has', async () => {
  let visits = 0;
  const under = await withSlowSessions(async (visit) => {
    visits = visit;
    if (visit !== 3) return;
    const { leases, clock } = under.engine;
    await leases.release('support', 'digest', run.runId);
    const until = new Date(clock().getTime() + 1e9);
    await leases.acquire('support', 'digest', { runId: 'another', until }, clock());
  }, 40);
  const { run } = await startRun(under.engine, digest);
  const outcomes: unknown[] = [];

  await under.queue.drain(async (message) => {
    const work = await workShard(under.engine, message);
    if (work.ok > 0) outcomes.push(work);
  });

  expect(outcomes).toEqual(Array(3).fill({ outcome: 'handed_over', ok: 1, failed: 0 }));
  expect(visits).toBe(3);
  expect(await under.engine.runs.get(run)).toMatchObject({ status: 'failed' });
  expect(await under.engine.leases.holder('support', 'digest')).toMatchObject({ runId: 'another' });
});

test.each([-7_200, -60])(
  'a clock that is set back by %d s, and forward again, fails no live run',
  async (secs) => {
    const others: string[] = [];
    const under = await withSlowSessions(async (visit) => {
      if (visit === 3) under.clock.advanceSecs(secs);
      if (visit === 6) under.clock.advanceSecs(-secs);
      others.push((await startRun(under.engine, digest)).status);
    }, 10);

    const { run } = await startRun(under.engine, digest);
    await under.queue.drain((message) => workShard(under.engine, message));

    expect(await under.engine.runs.get(run)).toMatchObject({ status: 'completed', sessions: 12, ok: 12 });
    expect(others).toEqual(Array(12).fill('skipped'));
  },
);

test('a run that ends by a clock behind the one that it began by ends when it began', async () => {
  const under = await withSlowSessions(async () => {}, -60);

  const { run } = await startRun(under.engine, digest);
  await under.queue.drain((message) => workShard(under.engine, message));

  const ended = await under.engine.runs.get(run);
  expect(ended).toMatchObject({ status: 'completed', startedAt: run.startedAt, finishedAt: run.startedAt });
});
