import { describe, expect, test } from 'vitest';
import type { ActionHandler } from '../../../lib/agents/agent-definition.ts';
import { sessionShards } from '../../../lib/defaults.ts';
import { inMemoryStores } from '../../../lib/in-memory/stores.ts';
import { failed } from '../../../lib/lifecycle/job-outcome.ts';
import type { SessionJobContext } from '../../../lib/lifecycle/session-job.ts';
import { currentTotals } from '../../../lib/runs/current-totals.ts';
import type { RunMessage } from '../../../lib/runs/run-message.ts';
import { startRun } from '../../../lib/runs/start-run.ts';
import { type ShardWork, workShard } from '../../../lib/runs/work-shard.ts';
import { createRuntime } from '../../../lib/runtime/create-runtime.ts';
import { engineUnderTest, hardlyAnyTime } from '../../support/engine-under-test.ts';

type Handler = ActionHandler;
const digest = { agent: 'support', action: 'digest' };

describe('one bad session', () => {
  const outcomes: Record<string, () => unknown> = {
    s1: () => 'nothing to do',
    s2: () => {
      throw new Error('broken');
    },
    s3: () => Promise.reject(undefined),
    s4: () => {
      throw 'x'.repeat(600_000);
    },
    s5: () => undefined,
  };
  const handler: Handler = ({ id }) => outcomes[id]?.();

  test('never stops the others: three rows in the error log, and the next run visits all again', async () => {
    const { engine, register, work, jobsOf } = engineUnderTest({ actions: { digest: handler } });
    await register(5);

    for (let tick = 1; tick <= 2; tick++) {
      const { run } = await startRun(engine, digest);
      await work();

      expect(await engine.runs.get(run)).toMatchObject({
        ...{ status: 'completed', sessions: 5, ok: 2, failed: 3 },
      });
      expect(await jobsOf(run)).toEqual({ ok: ['s1', 's5'], failed: ['s2', 's3', 's4'] });
      const errors = await createRuntime('support', { stores: engine.stores }).listErrors();
      const ofRun = errors.items.filter(({ runId }) => runId === run.runId);
      expect(ofRun.map(({ sessionId }) => sessionId).sort()).toEqual(['s2', 's3', 's4']);
      for (const { where, msg } of ofRun) {
        expect(where).toBe('digest');
        expect(msg.length).toBeLessThanOrEqual(2_000);
      }
    }
  });

  test('with an error log that is away: the run goes on and ends as failed, loudly', async () => {
    const stores = inMemoryStores();
    const errors = { ...stores.errors, record: () => Promise.reject(new Error('away')) };
    const { engine, register, work, logged } = engineUnderTest(
      { actions: { digest: handler } },
      { stores: { ...stores, errors } },
    );
    await register(5);

    const { run } = await startRun(engine, digest);
    await work();

    expect(await engine.runs.get(run)).toMatchObject({
      ...{ status: 'failed', sessions: 5, ok: 2, failed: 3 },
      reason: '3 failures could not be written to the error log',
    });
    expect(logged).toContain('error the run has failed');
    expect(await startRun(engine, digest)).toMatchObject({ status: 'started' });
  });

  test('1 % of sessions that throw, hang or return failures: totals are exact, and the error log has each', async () => {
    const number = (id: string) => Number(id.slice(1));
    const bad: Handler[] = [
      () => {
        throw new Error('thrown');
      },
      () => new Promise(() => {}),
      () => failed('returned'),
    ];
    const mostlyGood: Handler = (session, context) =>
      number(session.id) % 100 === 0 ? bad[(number(session.id) / 100) % 3]?.(session, context) : 'fine';
    const { engine, register, work, jobsOf } = engineUnderTest({
      actions: { digest: mostlyGood },
      limits: { sessionTimeoutSecs: 0.02 },
    });
    const sessions = await register(1_500);

    const { run } = await startRun(engine, digest);
    await work({}, 4);

    const broken = sessions.filter((id) => number(id) % 100 === 0).sort();
    expect(await engine.runs.get(run)).toMatchObject({
      ...{ status: 'completed', sessions: 1_500, ok: 1_485, failed: 15 },
    });
    expect((await jobsOf(run)).failed).toEqual(broken);
    const { items } = await createRuntime('support', { stores: engine.stores }).listErrors();
    expect(items.map(({ sessionId }) => sessionId).sort()).toEqual(broken);
  });
});

describe('a worker', () => {
  /** A handler that takes 150 ms of a clock that only it moves, and the time that a worker has left by that clock. */
  const slowly = () => {
    const visits = new Map<string, number>();
    let elapsed = 0;
    const handler: Handler = async ({ id }) => {
      visits.set(id, (visits.get(id) ?? 0) + 1);
      elapsed += 150;
    };
    /** As a function that is started anew for each message. */
    const remainingMs = () => {
      const end = elapsed + 30_000;
      return () => end - elapsed;
    };
    return { visits, handler, remainingMs };
  };

  test('stops in time and hands the rest on: 5,000 sessions are visited once each, the last ones too', async () => {
    const { visits, handler, remainingMs } = slowly();
    const { engine, register, queue } = engineUnderTest({ actions: { digest: handler } });
    await register(5_000);

    const { run } = await startRun(engine, digest);
    const outcomes = new Map<string, number>();
    const spare: number[] = [];
    await queue.drain(async (message) => {
      const left = remainingMs();
      const { outcome } = await workShard(engine, message, { remainingMs: left });
      outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
      spare.push(left());
    });

    expect(Math.min(...spare)).toBeGreaterThan(5_000);
    expect(outcomes.get('finished')).toBe(16);
    expect(outcomes.get('handed_over')).toBeGreaterThanOrEqual(16);
    expect([...visits.values()].every((count) => count === 1)).toBe(true);
    expect(visits.size).toBe(5_000);
    expect(await engine.runs.get(run)).toMatchObject({ status: 'completed', sessions: 5_000 });
  });

  test('gets on with at least one session, however little time it has', async () => {
    const { engine, register, queue } = engineUnderTest({ actions: { digest: () => 'fine' } });
    await register(60);

    const { run } = await startRun(engine, digest);
    await queue.drain((message) => workShard(engine, message, { remainingMs: hardlyAnyTime() }));

    expect(await engine.runs.get(run)).toMatchObject({ status: 'completed', sessions: 60, ok: 60 });
  });

  test('that is told to stop ends what it has begun in its own time, and hands the rest on', async () => {
    const stop = new AbortController();
    const handler: Handler = async (_session, { signal }) => {
      stop.abort();
      await new Promise((resolve) => setImmediate(resolve));
      return signal.aborted;
    };
    const { engine, register, queue } = engineUnderTest({
      actions: { digest: handler },
      limits: { sessionConcurrency: 3 },
    });
    await register(200);

    const { run } = await startRun(engine, digest);
    const first: ShardWork[] = [];
    await queue.drain(async (message) => {
      const stopped = stop.signal.aborted;
      const work = await workShard(engine, message, stopped ? {} : { stop: stop.signal });
      if (!stopped) first.push(work);
    });

    expect(first).toEqual([{ outcome: 'handed_over', ok: 1, failed: 0 }]);
    expect(await engine.runs.get(run)).toMatchObject({ status: 'completed', sessions: 200, ok: 200 });
  });

  test('that is told to stop before it has begun leaves its shard as it is', async () => {
    const { engine, register, queue } = engineUnderTest({ actions: { digest: () => null } });
    await register(40);
    const { run } = await startRun(engine, digest);
    const outcomes: string[] = [];

    await queue.drain(async (message) => {
      const stop = outcomes.length === 0 ? AbortSignal.abort() : undefined;
      outcomes.push((await workShard(engine, message, { stop })).outcome);
    });

    expect(outcomes).toEqual(['handed_over', ...Array(sessionShards).fill('finished')]);

    expect(await engine.runs.get(run)).toMatchObject({ status: 'completed', sessions: 40, ok: 40 });
  });

  test('cuts a session off before its own time is up, however long the agent would let it take', async () => {
    const { engine, register, work } = engineUnderTest({ actions: { digest: () => new Promise(() => {}) } });
    await register(3);

    const { run } = await startRun(engine, digest);
    await work({ remainingMs: () => 400 });

    expect(await engine.runs.get(run)).toMatchObject({ status: 'completed', failed: 3 });
  });

  test('visits neither what was deregistered between pages nor what is not registered', async () => {
    const visited: string[] = [];
    const handler: Handler = async ({ id }, { runtime }) => {
      visited.push(id);
      for (let index = 1; index <= 100; index++)
        if (`s${index}` > id && index % 2 === 0) await runtime.deregisterSession(`s${index}`);
    };
    const { engine, register, work } = engineUnderTest(
      { actions: { digest: handler }, limits: { sessionConcurrency: 1 } },
      { pageSize: 1 },
    );
    const sessions = await register(100);

    const { run } = await startRun(engine, digest);
    await work();

    expect(await engine.runs.get(run)).toMatchObject({ status: 'completed', sessions: visited.length });
    expect(visited).toEqual([...new Set(visited)]);
    expect(visited).toEqual(expect.arrayContaining(sessions.filter((_, index) => index % 2 === 0)));
    expect(visited.length).toBeLessThan(100);
  });

  test('gives a handler the run, its time, a signal, and a key that is the same for every attempt', async () => {
    const contexts: SessionJobContext[] = [];
    const { engine, register, clock, queue } = engineUnderTest({
      actions: { digest: (_session, context) => contexts.push(context) },
    });
    await register(1);
    const { run } = await startRun(engine, digest);
    const messages: RunMessage[] = [];
    await queue.drain(async (message) => messages.push(message));
    const dying = {
      ...engine,
      runs: { ...engine.runs, commitPage: () => Promise.reject(new Error('killed')) },
    };

    clock.advanceSecs(60);
    for (const message of messages) await workShard(dying, message).catch(() => {});
    for (const message of messages) await workShard(engine, message);

    expect(contexts).toHaveLength(2);
    expect(new Set(contexts.map(({ idempotencyKey }) => idempotencyKey)).size).toBe(1);
    for (const { runId, now, signal } of contexts) {
      expect(runId).toBe(run.runId);
      expect(now).toEqual(run.startedAt);
      expect(signal.aborted).toBe(false);
    }
    expect(await engine.runs.get(run)).toMatchObject({ status: 'completed', sessions: 1 });
  });

  test('prunes without the agent writing it, and leaves a run whose action is gone as failed', async () => {
    const { engine, register, work, logged, queue } = engineUnderTest({ actions: { digest: () => 'fine' } });
    await register(3);
    const pruning = await startRun(engine, { agent: 'support', action: 'prune-raw-memory' });
    await work();
    const { run } = await startRun(engine, digest);
    const deployed = { ...engine, agents: new Map([['support', { name: 'support' }]]) };

    await queue.drain((message) => workShard(deployed, message));

    expect(await engine.runs.get(pruning.run)).toMatchObject({ status: 'completed', ok: 3 });
    expect(await engine.runs.get(run)).toMatchObject({
      status: 'failed',
      reason: expect.stringContaining('action'),
    });
    expect(logged.filter((line) => line === 'error the run has failed')).toHaveLength(1);
    expect(await engine.leases.holder('support', 'digest')).toBeUndefined();
  });

  test('keeps results as JSON can carry them, and long ones in part', async () => {
    const results: Record<string, unknown> = {
      s1: { count: 1, at: new Date(0) },
      s2: 'y'.repeat(5_000),
      s3: 10n,
      s4: [() => 1],
      s5: undefined,
      s6: {
        toJSON() {
          throw new Error('no');
        },
      },
      s7: { seen: new Map([['a', 1]]), rate: Number.NaN, total: 10n, ids: new Set() },
    };
    const { engine, register, work } = engineUnderTest({ actions: { digest: ({ id }) => results[id] } });
    await register(7);

    const { run } = await startRun(engine, digest);
    await work();

    const { items } = await engine.runs.listJobs({ agent: 'support', runId: run.runId, limit: 9 });
    const resultOf = (session: string) => items.find(({ sessionId }) => sessionId === session)?.result;
    expect(resultOf('s1')).toEqual({ count: 1, at: '1970-01-01T00:00:00.000Z' });
    expect(resultOf('s2')).toMatch(/^y{300,1000}…$/);
    expect(resultOf('s3')).toBe('10n');
    expect(resultOf('s4')).toEqual([expect.stringContaining('Function')]);
    expect(resultOf('s5')).toBeNull();
    expect(typeof resultOf('s6')).toBe('string');
    expect(resultOf('s7')).toEqual({
      seen: "Map(1) { 'a' => 1 }",
      rate: 'NaN',
      total: '10n',
      ids: 'Set(0) {}',
    });
  });

  test('of two that have the same message one commits a page; the other rejects, and totals stay right', async () => {
    const { engine, register, queue, jobsOf } = engineUnderTest(
      { actions: { digest: () => 'fine' } },
      { pageSize: 2 },
    );
    const sessions = await register(60);
    const { run } = await startRun(engine, digest);

    const rejected: unknown[] = [];
    await queue.drain(async (message) => {
      const both = await Promise.allSettled([1, 2].map(() => workShard(engine, message)));
      rejected.push(...both.flatMap((one) => (one.status === 'rejected' ? [one.reason] : [])));
    });

    expect(rejected.length).toBeGreaterThan(0);
    for (const reason of rejected) expect(reason).toMatchObject({ code: 'shard_taken', retryable: true });
    expect(await engine.runs.get(run)).toMatchObject({ status: 'completed', sessions: 60, ok: 60 });
    expect((await jobsOf(run)).ok).toEqual([...sessions].sort());
  });

  test('shows exact totals of a run that is still going', async () => {
    const { engine, register, queue, jobsOf } = engineUnderTest({ actions: { digest: () => 'fine' } });
    await register(200);
    const { run } = await startRun(engine, digest);

    const totals: number[] = [];
    const jobs: number[] = [];
    await queue.drain(async (message) => {
      await workShard(engine, message);
      const now = await engine.runs.get(run);
      totals.push((await currentTotals(engine.runs, now ?? run)).ok);
      jobs.push((await jobsOf(run)).ok.length);
    });

    expect(totals).toEqual(jobs);
    expect(new Set(totals).size).toBe(16);
    expect(totals.at(-1)).toBe(200);
  });
});
