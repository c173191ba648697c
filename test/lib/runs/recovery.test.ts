import { describe, expect, test } from 'vitest';
import { inMemoryRunQueue } from '../../../lib/in-memory/run-queue.ts';
import { abandonShard } from '../../../lib/runs/abandon-shard.ts';
import { resumeRuns } from '../../../lib/runs/resume-runs.ts';
import { ShardTakenError } from '../../../lib/runs/run-error.ts';
import { startRun } from '../../../lib/runs/start-run.ts';
import { workShard } from '../../../lib/runs/work-shard.ts';
import { engineUnderTest, hardlyAnyTime, jobsOf } from '../../support/engine-under-test.ts';

const digest = { agent: 'support', action: 'digest' };

describe('a run that a stop cut off', () => {
  const interrupted = async (until: number) => {
    const visits = new Map<string, number>();
    const visit = ({ id }: { id: string }) => void visits.set(id, (visits.get(id) ?? 0) + 1);
    const under = engineUnderTest({ actions: { digest: visit } }, { pageSize: 2 });
    const sessions = await under.register(80);
    const { run } = await startRun(under.engine, digest);
    let delivered = 0;
    await under.queue.drain(async (message) => {
      if (++delivered <= until) await workShard(under.engine, message, { remainingMs: hardlyAnyTime() });
    });
    const queue = inMemoryRunQueue();
    return { ...under, visits, sessions, run, queue, engine: { ...under.engine, queue } };
  };

  for (const until of [0, 7, 40])
    test(`after ${until} messages goes on where it was`, async () => {
      const { engine, queue, run, sessions, visits } = await interrupted(until);

      const resumed = await resumeRuns(engine, 'support');
      await queue.drain((message) => workShard(engine, message));

      expect(resumed.map(({ runId }) => runId)).toEqual([run.runId]);
      expect([...visits.values()]).toEqual(Array(80).fill(1));
      expect(await engine.runs.get(run)).toMatchObject({ status: 'completed', sessions: 80 });
      expect((await jobsOf(engine.runs, run)).ok).toEqual([...sessions].sort());
      expect(await resumeRuns(engine, 'support')).toEqual([]);
    });

  test('before its messages were sent goes on too, and counts as sent from then on', async () => {
    const { engine, register, queue, work } = engineUnderTest({ actions: { digest: () => 'fine' } });
    await register(3);
    const away = () => Promise.reject(new Error('killed'));
    const dying = { ...engine, queue: { ...queue, send: away }, runs: { ...engine.runs, end: away } };
    await expect(startRun(dying, digest)).rejects.toThrow('killed');

    const [run] = await resumeRuns(engine, 'support');
    await work();

    expect(run && (await engine.runs.get(run))).toMatchObject({
      ...{ status: 'completed', dispatched: true, sessions: 3 },
    });
  });

  test('before it was admitted is not noted as skipped once it goes on', async () => {
    const { engine, work } = engineUnderTest({ actions: { digest: () => 'fine' } });
    const away = () => Promise.reject(new Error('killed'));
    const dying = { ...engine, runs: { ...engine.runs, admit: away, end: away } };
    await expect(startRun(dying, digest)).rejects.toThrow('killed');

    const [run] = await resumeRuns(engine, 'support');
    if (run === undefined) throw new Error('nothing was resumed');
    await engine.runs.end(run, { status: 'skipped', at: engine.clock() });
    await work();

    expect((await engine.runs.get(run))?.status).toBe('completed');
  });

  test('in the middle of handing a shard on goes on too', async () => {
    const { engine, queue, run } = await interrupted(0);
    const dying = { ...engine, queue: { send: () => Promise.reject(new Error('killed')) } };
    await resumeRuns(engine, 'support');
    await queue.drain((message) =>
      workShard(dying, message, { remainingMs: hardlyAnyTime() }).catch(() => {}),
    );

    await resumeRuns(engine, 'support');
    await queue.drain((message) => workShard(engine, message));

    expect(await engine.runs.get(run)).toMatchObject({ status: 'completed', sessions: 80 });
  });
});

describe('a message that fails as often as it comes', () => {
  const poisoned = async () => {
    const under = engineUnderTest({ actions: { digest: () => 'fine' } }, { pageSize: 2 });
    await under.register(80);
    const { run } = await startRun(under.engine, digest);
    const dying = {
      ...under.engine,
      runs: { ...under.engine.runs, commitPage: () => Promise.reject(new Error('killed')) },
    };
    await under.queue.drain((message) => {
      const isPoison = message.shard === 5 && message.handOvers > 0;
      return workShard(isPoison ? dying : under.engine, message, { remainingMs: hardlyAnyTime() });
    });
    const message = under.queue.deadLetters[0]?.message;
    if (message === undefined) throw new Error('nothing was dead-lettered');
    return { ...under, run, message };
  };

  test('costs the run its shard only: it ends as failed, loudly, with exact totals', async () => {
    const { engine, run, message, logged } = await poisoned();
    expect(await engine.runs.get(run)).toMatchObject({ status: 'running', pending: [5] });

    await abandonShard(engine, message, new Error('killed'));
    await abandonShard(engine, message, new Error('killed'));

    const ended = await engine.runs.get(run);
    expect(ended).toMatchObject({ status: 'failed', reason: '1 shards could not be finished', pending: [] });
    const { ok } = await jobsOf(engine.runs, run);
    expect(ended).toMatchObject({ sessions: ok.length, ok: ok.length, failed: 0 });
    expect(ok.length).toBeGreaterThan(60);
    expect(ok.length).toBeLessThan(80);
    expect(logged.filter((line) => line === 'error the run has failed')).toHaveLength(1);
    expect((await workShard(engine, message)).outcome).toBe('dropped');
    expect(await startRun(engine, digest)).toMatchObject({ status: 'started' });
  });

  test('because another worker has the shard costs nothing', async () => {
    const { engine, run, message } = await poisoned();

    await abandonShard(engine, message, new ShardTakenError(run.runId, 5));

    expect(await engine.runs.get(run)).toMatchObject({ status: 'running', pending: [5] });
  });
});

describe('what a worker tells of a message', () => {
  test('adds up to the run, and one of them ended it', async () => {
    let ended = 0;
    const actions = {
      digest: ({ id }: { id: string }) => {
        if (id.endsWith('3')) throw new Error('broken');
      },
    };
    const { engine, register, queue } = engineUnderTest({ actions }, { onEnd: () => ended++ });
    await register(100);
    await startRun(engine, digest);

    let [ok, failed] = [0, 0];
    await queue.drain(async (message) => {
      const work = await workShard(engine, message, { remainingMs: hardlyAnyTime() });
      ok += work.ok;
      failed += work.failed;
    });

    expect([ok, failed, ended]).toEqual([90, 10, 1]);
  });
});
