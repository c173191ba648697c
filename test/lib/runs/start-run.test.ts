import { describe, expect, test } from 'vitest';
import { runMaxSessions, sessionShards } from '../../../lib/defaults.ts';
import { type RunRequest, startRun } from '../../../lib/runs/start-run.ts';
import { workShard } from '../../../lib/runs/work-shard.ts';
import { engineUnderTest } from '../../support/engine-under-test.ts';

const tickAt = (time: string): RunRequest => ({
  agent: 'support',
  action: 'digest',
  tick: { schedule: 'nightly', at: new Date(time) },
});
const firstTick = tickAt('2027-01-01T00:00:00Z');
const secondTick = tickAt('2027-01-01T00:01:00Z');

/** An engine whose `digest` counts its visits to each session. */
const counting = (options?: Parameters<typeof engineUnderTest>[1]) => {
  const visits = new Map<string, number>();
  const digest = async ({ id }: { id: string }) => {
    visits.set(id, (visits.get(id) ?? 0) + 1);
    // Long enough for another worker to come to the same session.
    await new Promise((resolve) => setImmediate(resolve));
  };
  const under = engineUnderTest({ actions: { digest } }, options);
  const counts = () => [...visits.values()];
  return { ...under, visits, counts };
};

describe('a tick', () => {
  test('that is delivered again, during its run or after it, starts nothing', async () => {
    const { engine, register, work, counts, queue } = counting();
    await register(10);

    const first = await startRun(engine, firstTick);
    const during = await startRun(engine, firstTick);
    expect(queue.waiting).toBe(sessionShards);
    await work();
    const after = await startRun(engine, firstTick);
    await work();

    expect([first, during, after].map(({ status }) => status)).toEqual(['started', 'duplicate', 'duplicate']);
    expect(new Set([first, during, after].map(({ run }) => run.runId)).size).toBe(1);
    expect(counts()).toEqual(Array(10).fill(1));
    expect(await engine.runs.get(first.run)).toMatchObject({
      ...{ status: 'completed', sessions: 10, ok: 10, failed: 0 },
      ...{ trigger: 'schedule', schedule: 'nightly' },
    });
  });

  test('of which another delivery has noted the run as skipped meanwhile starts nothing either', async () => {
    const { engine, register, queue } = counting();
    await register(3);
    const { runs } = engine;
    const admit: typeof runs.admit = async (run) => ({ ...(await runs.admit(run)), status: 'skipped' });

    const { status, run } = await startRun({ ...engine, runs: { ...runs, admit } }, firstTick);

    expect([status, run.status]).toEqual(['duplicate', 'skipped']);
    expect(queue.waiting).toBe(0);
    expect(await engine.leases.holder('support', 'digest')).toBeUndefined();
  });

  test('that is delivered five times at once visits each session once', async () => {
    const { engine, register, work, counts } = counting();
    await register(10);

    const outcomes = await Promise.all(Array.from({ length: 5 }, () => startRun(engine, firstTick)));
    await work({}, 5 * sessionShards);

    expect(outcomes.filter(({ status }) => status === 'started')).toHaveLength(1);
    expect(outcomes.filter(({ status }) => status === 'duplicate')).toHaveLength(4);
    expect(counts()).toEqual(Array(10).fill(1));
    const { items } = await engine.runs.list({ agent: 'support', limit: 9 });
    expect(items).toMatchObject([{ status: 'completed', sessions: 10 }]);
    expect(await engine.leases.holder('support', 'digest')).toBeUndefined();
  });

  test.each(['acquire', 'admit', 'send', 'markDispatched'])(
    'whose delivery failed at %s is carried on by the next one, as a duplicate',
    async (step) => {
      const { engine, register, work, counts } = counting();
      await register(3);
      const failing = <Port extends object>(port: Port) =>
        step in port ? { ...port, [step]: () => Promise.reject(new Error('away')) } : port;
      const { runs, leases, queue } = engine;
      const broken = { ...engine, runs: failing(runs), leases: failing(leases), queue: failing(queue) };
      await expect(startRun(broken, firstTick)).rejects.toThrow('away');

      const { status, run } = await startRun(engine, firstTick);
      await work();

      expect(status).toBe('duplicate');
      expect(await engine.runs.get(run)).toMatchObject({
        status: 'completed',
        dispatched: true,
        sessions: 3,
      });
      expect(counts()).toEqual([1, 1, 1]);
    },
  );

  test('that was to be noted as skipped, and whose run somebody ended meanwhile, is not noted', async () => {
    const ended: string[] = [];
    const { engine } = counting({ onEnd: ({ status }) => ended.push(status) });
    await startRun(engine, firstTick);
    const { runs } = engine;
    const overtaken: typeof runs = {
      ...runs,
      async end(run, end) {
        await runs.end(run, { status: 'failed', at: end.at });
        return runs.end(run, end);
      },
    };

    const { status } = await startRun({ ...engine, runs: overtaken }, secondTick);

    expect(status).toBe('duplicate');
    expect(ended).toEqual([]);
  });

  test.each(['skip', 'start'] as const)(
    'that one delivery is about to skip, and another one to start, is either skipped or done: first comes the %s',
    async (first) => {
      const { engine, register, work, counts } = counting();
      await register(3);
      await startRun(engine, firstTick);
      const { runs } = engine;
      let other: Awaited<ReturnType<typeof startRun>> | undefined;
      // The first run ends, and the tick is delivered again, while its first delivery is about to note that it is skipped.
      const startOther = async () => {
        await work();
        other = await startRun(engine, secondTick);
      };
      const paused: typeof runs = {
        ...runs,
        async end(run, end) {
          if (first === 'skip') await runs.end(run, end);
          await startOther();
          return runs.end(run, end);
        },
      };

      const { status, run } = await startRun({ ...engine, runs: paused }, secondTick);
      await work();

      expect([status, other?.status]).toEqual(
        first === 'skip' ? ['skipped', 'duplicate'] : ['duplicate', 'duplicate'],
      );
      expect((await runs.get(run))?.status).toBe(first === 'skip' ? 'skipped' : 'completed');
      expect(counts()).toEqual(Array(3).fill(first === 'skip' ? 1 : 2));
      expect(await engine.leases.holder('support', 'digest')).toBeUndefined();
    },
  );

  test('is skipped where another run takes the lease each time that it is free', async () => {
    const { engine } = counting();
    const until = new Date(engine.clock().getTime() + 1_000);
    let asked = 0;
    const leases: typeof engine.leases = {
      ...engine.leases,
      holder: async () => undefined,
      acquire: async () => ({ runId: `faster-${++asked}`, until }),
    };

    expect(await startRun({ ...engine, leases }, firstTick)).toMatchObject({ status: 'skipped' });
    expect(asked).toBe(3);
  });

  test('does not have to wait for a run that was never written', async () => {
    const { engine } = counting();
    const until = new Date(engine.clock().getTime() + 9_000_000);
    await engine.leases.acquire('support', 'digest', { runId: 'never-written', until }, engine.clock());

    expect(await startRun(engine, firstTick)).toMatchObject({ status: 'started' });
  });

  test('of another time, schedule or agent is another run', async () => {
    const { engine } = counting();
    const other = { ...firstTick, tick: { schedule: 'hourly', at: new Date('2027-01-01T00:00:00Z') } };

    const runs = [firstTick, secondTick, other].map((request) =>
      startRun(engine, { ...request, overlap: 'allow' }),
    );

    const started = await Promise.all(runs);
    expect(started.map(({ status }) => status)).toEqual(['started', 'started', 'started']);
    expect(new Set(started.map(({ run }) => run.runId)).size).toBe(3);
  });

  test('that comes while the run before is going is skipped and noted, and the next one runs', async () => {
    const { engine, register, work, counts } = counting();
    await register(10);

    await startRun(engine, firstTick);
    const skipped = await startRun(engine, secondTick);
    const again = await startRun(engine, secondTick);
    await work();
    const third = await startRun(engine, tickAt('2027-01-01T00:02:00Z'));
    await work();

    expect(skipped).toMatchObject({ status: 'skipped', run: { status: 'skipped', pending: [] } });
    expect(again).toMatchObject({ status: 'duplicate', run: { status: 'skipped' } });
    expect(third.status).toBe('started');
    expect(counts()).toEqual(Array(10).fill(2));
    const { items } = await engine.runs.list({ agent: 'support', action: 'digest', limit: 9 });
    expect(items.map(({ status }) => status)).toEqual(['completed', 'skipped', 'completed']);
  });

  test('runs beside the run before where overlap is allowed', async () => {
    const { engine, register, work, counts } = counting();
    await register(10);

    await startRun(engine, { ...firstTick, overlap: 'allow' });
    const second = await startRun(engine, { ...secondTick, overlap: 'allow' });
    await work({}, 4);

    expect(second.status).toBe('started');
    expect(counts()).toEqual(Array(10).fill(2));
    expect(await engine.leases.holder('support', 'digest')).toBeUndefined();
  });

  test('runs beside one that does not overlap, where overlap is allowed to itself', async () => {
    const { engine } = counting();

    const first = await startRun(engine, firstTick);
    const second = await startRun(engine, { ...secondTick, overlap: 'allow' });

    expect([first.status, second.status]).toEqual(['started', 'started']);
    expect(await engine.leases.holder('support', 'digest')).toMatchObject({ runId: first.run.runId });
  });

  test('that could not be noted as skipped is noted when it is delivered again', async () => {
    const { engine } = counting();
    await startRun(engine, firstTick);
    const away = { ...engine.runs, end: () => Promise.reject(new Error('away')) };
    await expect(startRun({ ...engine, runs: away }, secondTick)).rejects.toThrow('away');

    expect(await startRun(engine, secondTick)).toMatchObject({ status: 'skipped' });
  });

  test('gets its turn once the lease of a run that died is over, and that run is failed', async () => {
    const { engine, register, work, counts, clock, queue } = counting({ leaseSecs: 600 });
    await register(10);
    const dead = await startRun(engine, firstTick);
    await queue.drain(async () => {});

    clock.advanceSecs(599);
    const early = await startRun(engine, secondTick);
    clock.advanceSecs(1);
    const late = await startRun(engine, tickAt('2027-01-01T00:02:00Z'));
    await work();

    expect(early.status).toBe('skipped');
    expect(late.status).toBe('started');
    expect(counts()).toEqual(Array(10).fill(1));
    expect(await engine.runs.get(dead.run)).toMatchObject({
      ...{ status: 'failed', sessions: 0 },
      reason: expect.stringContaining('lease'),
    });
  });

  test('does not have to wait for a run that ended without giving its lease back', async () => {
    const { engine, register, work } = counting();
    await register(3);
    const { run } = await startRun(engine, firstTick);
    await work();
    const until = new Date(engine.clock().getTime() + 9_000_000);
    await engine.leases.acquire('support', 'digest', { runId: run.runId, until }, engine.clock());

    expect(await startRun(engine, secondTick)).toMatchObject({ status: 'started' });
  });

  test('a run whose lease another one took over stops, and harms neither', async () => {
    const { engine, register, clock, queue, work } = counting({ leaseSecs: 600 });
    await register(40);
    const old = await startRun(engine, firstTick);
    const [stale] = await new Promise<Parameters<typeof workShard>[1][]>((resolve) => {
      const messages: Parameters<typeof workShard>[1][] = [];
      void queue.drain(async (message) => messages.push(message)).then(() => resolve(messages));
    });
    if (stale === undefined) throw new Error('nothing was sent');
    clock.advanceSecs(601);
    const young = await startRun(engine, secondTick);

    expect(await workShard(engine, stale)).toMatchObject({ outcome: 'dropped' });
    await work();

    expect(await engine.runs.get(old.run)).toMatchObject({ status: 'failed', sessions: 0 });
    expect(await engine.runs.get(young.run)).toMatchObject({ status: 'completed', sessions: 40 });
  });
});

describe('a run that is asked for', () => {
  test('visits every session, or only those that are named and registered', async () => {
    const { engine, register, work, visits, jobsOf } = counting();
    await register(20);

    const named = ['s3', 's17', 's3', 'nobody', 's8'];
    const { run } = await startRun(engine, { agent: 'support', action: 'digest', sessions: named });
    await work();

    expect([...visits.keys()].sort()).toEqual(['s17', 's3', 's8']);
    expect(await engine.runs.get(run)).toMatchObject({
      ...{ status: 'completed', trigger: 'request', sessions: 3 },
    });
    expect(await jobsOf(run)).toEqual({ ok: ['s17', 's3', 's8'], failed: [] });
  });

  test('for as many sessions as may be named is not refused, nor by a queue that sends nothing later', async () => {
    const { engine } = counting();
    const send = engine.queue.send.bind(engine.queue);
    const sessions = Array.from({ length: runMaxSessions }, (_, index) => `s${index}`);

    const { run } = await startRun(
      { ...engine, queue: { send } },
      { agent: 'support', action: 'digest', sessions },
    );

    expect(run.only).toHaveLength(runMaxSessions);
    expect(run.pending).toEqual(run.pending.toSorted((a, b) => a - b));
  });

  test('twice is two runs', async () => {
    const { engine, register, work, counts } = counting();
    await register(5);

    for (let index = 0; index < 2; index++) {
      await startRun(engine, { agent: 'support', action: 'digest' });
      await work();
    }

    expect(counts()).toEqual(Array(5).fill(2));
  });

  test('over no session at all is complete', async () => {
    const { engine, work } = counting();

    const { run } = await startRun(engine, { agent: 'support', action: 'digest' });
    await work();

    expect(await engine.runs.get(run)).toMatchObject({ status: 'completed', sessions: 0 });
  });

  test('for an agent or an action that is not defined, or for too many sessions, is refused', async () => {
    const { engine } = counting();
    const digest = { agent: 'support', action: 'digest' };

    for (const [request, code] of [
      [{ ...digest, agent: 'nobody' }, 'unknown_action'],
      [{ ...digest, action: 'toString' }, 'unknown_action'],
      [{ ...digest, action: '' }, 'invalid_input'],
      [{ ...digest, action: 'a'.repeat(513) }, 'invalid_input'],
      [{ ...digest, sessions: [] }, 'invalid_input'],
      // Nothing of another kind is taken for "all of them".
      [{ ...digest, sessions: null as never }, 'invalid_input'],
      [{ ...digest, sessions: '' as never }, 'invalid_input'],
      [{ ...digest, sessions: false as never }, 'invalid_input'],
      [{ ...digest, sessions: Array(101).fill('s') }, 'invalid_input'],
      [{ ...digest, sessions: [''] }, 'invalid_input'],
      [{ ...digest, tick: { schedule: 's', at: new Date('never') } }, 'invalid_input'],
    ] as const)
      await expect(startRun(engine, request)).rejects.toMatchObject({ code });
    expect((await engine.runs.list({ agent: 'support', limit: 1 })).items).toEqual([]);
  });

  test.each(['acquire', 'admit', 'send', 'markDispatched'])(
    'and fails at %s leaves no run in the way of the next one',
    async (step) => {
      const { engine, register, work, counts } = counting();
      await register(3);
      const failing = <Port extends object>(port: Port) =>
        step in port ? { ...port, [step]: () => Promise.reject(new Error('away')) } : port;
      const { runs, leases, queue } = engine;
      const broken = { ...engine, runs: failing(runs), leases: failing(leases), queue: failing(queue) };

      await expect(startRun(broken, { agent: 'support', action: 'digest' })).rejects.toThrow('away');
      await work();
      expect(await startRun(engine, { agent: 'support', action: 'digest' })).toMatchObject({
        status: 'started',
      });
      await work();

      expect(counts()).toEqual(Array(3).fill(1));
      const { items } = await engine.runs.list({ agent: 'support', limit: 9 });
      expect(items.map(({ status }) => status).sort()).toEqual(['completed', 'failed']);
    },
  );
});
