import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { LifecycleJob } from '../../lib/lifecycle/lifecycle-job.ts';
import { currentTotals } from '../../lib/runs/current-totals.ts';
import { requestedRunId } from '../../lib/runs/run-id.ts';
import type { RunLeases } from '../../lib/runs/run-leases.ts';
import type {
  JobQuery,
  NewRun,
  RunRef,
  RunStore,
  ShardPage,
  ShardProgress,
} from '../../lib/runs/run-store.ts';
import { noProgress } from '../../lib/runs/shard-progress.ts';

export interface RunsUnderTest {
  readonly runs: RunStore;
  readonly leases: RunLeases;
  close?(): Promise<void>;
}

/** What every run store must do. */
export function describeRunStore(name: string, setUp: () => Promise<RunsUnderTest>): void {
  describe(`${name} keeps the contract of a run store`, () => {
    const at = (seconds: number) => new Date(Date.parse('2027-01-01T00:00:00.250Z') + seconds * 1000);
    let underTest: RunsUnderTest;
    let runs: RunStore;
    let agent: string;
    let made = 0;

    beforeAll(async () => {
      underTest = await setUp();
      runs = underTest.runs;
    });
    beforeEach(() => {
      agent = `agent-${++made}`;
    });
    afterAll(async () => {
      await underTest.close?.();
    });

    const newRun = (changes: Partial<NewRun> = {}): NewRun => {
      const startedAt = changes.startedAt ?? at(0);
      const runId = requestedRunId(startedAt, `run-${++made}`);
      const given = { action: 'digest', trigger: 'request', overlap: 'skip', pending: [0, 3] } as const;
      return { runId, agent, startedAt, ...given, ...changes };
    };
    const start = async (changes?: Partial<NewRun>) => (await runs.create(newRun(changes))).run;
    const job = (sessionId: string, ok = true): LifecycleJob =>
      ok
        ? { sessionId, action: 'digest', ok, result: { seen: [sessionId, 1] }, error: null }
        : { sessionId, action: 'digest', ok, result: null, error: { kind: 'thrown', reason: 'ä broke' } };
    const page = (jobs: LifecycleJob[], changes: Partial<ShardPage> = {}): ShardPage => ({
      ...{ jobs, cursor: jobs.at(-1)?.sessionId, done: false, unrecorded: 0, writer: 'one' },
      ...changes,
    });
    const jobsOf = ({ runId, agent: of }: RunRef, query: Omit<JobQuery, keyof RunRef>) =>
      runs.listJobs({ agent: of, runId, ...query });
    /** Commits pages one after the other. */
    const commit = async (shard: { agent: string; runId: string; shard: number }, pages: ShardPage[]) => {
      let progress: ShardProgress = noProgress;
      for (const one of pages) progress = (await runs.commitPage(shard, progress, one)) ?? progress;
      return progress;
    };

    test('a run is there as it was created, and creating it again changes nothing', async () => {
      const wanted = newRun({ trigger: 'schedule', schedule: 'nightly', only: ['a', 'b/c'] });
      const first = await runs.create(wanted);
      const second = await runs.create({ ...wanted, startedAt: at(99), action: 'other' });

      const expected = { ...wanted, status: 'running', dispatched: false, sessions: 0, ok: 0, failed: 0 };
      expect(first).toEqual({ run: expected, created: true });
      expect(second).toEqual({ run: expected, created: false });
      expect(await runs.get(wanted)).toEqual(expected);
    });

    test('of ten who create one run one does', async () => {
      const wanted = newRun();

      const outcomes = await Promise.all(Array.from({ length: 10 }, () => runs.create(wanted)));

      expect(outcomes.filter(({ created }) => created)).toHaveLength(1);
    });

    test('a run that is not there is undefined, has no jobs, and cannot be changed', async () => {
      const ref = { agent, runId: requestedRunId(at(0), 'nowhere') };

      expect(await runs.get(ref)).toBeUndefined();
      expect(await runs.listJobs({ ...ref, limit: 5 })).toEqual({ items: [], next: undefined });
      expect(await runs.progress({ ...ref, shard: 0 })).toEqual(noProgress);
      const notFound = { code: 'run_not_found' };
      await expect(runs.end(ref, { status: 'failed', at: at(1) })).rejects.toMatchObject(notFound);
      await expect(runs.admit(ref)).rejects.toMatchObject(notFound);
      await expect(runs.markDispatched(ref)).rejects.toMatchObject(notFound);
      await expect(runs.finishShard({ ...ref, shard: 0 }, noProgress, at(1))).rejects.toMatchObject(notFound);
    });

    test('runs are listed newest first, all of an agent or those of one action, in pages that add up', async () => {
      const ids: string[] = [];
      // Not in the order of their times.
      for (const index of [4, 0, 8, 1, 7, 2, 6, 3, 5])
        ids[8 - index] = (
          await start({ startedAt: at(index), action: index % 3 ? 'digest' : 'digest/x' })
        ).runId;
      const listed = async (limit: number, action?: string) => {
        const sizes: number[] = [];
        const found: string[] = [];
        let after: string | undefined;
        do {
          const { items, next } = await runs.list({ agent, action, limit, after });
          sizes.push(items.length);
          found.push(...items.map(({ runId }) => runId));
          after = next;
        } while (after !== undefined);
        return { found, sizes };
      };

      for (const limit of [1, 2, 3, 50])
        expect(await listed(limit)).toMatchObject({
          found: ids,
          sizes: { length: Math.ceil(9 / Math.min(limit, 9)) },
        });
      expect((await listed(2, 'digest')).found).toEqual(ids.filter((_, index) => (8 - index) % 3));
      expect((await listed(3, 'digest/x')).found).toEqual(ids.filter((_, index) => (8 - index) % 3 === 0));
      expect((await listed(5, 'dig')).found).toEqual([]);
      await expect(runs.list({ agent, limit: 5, after: 'mangled' })).rejects.toMatchObject({
        field: 'after',
      });
    });

    test('only a running run ends, once, and skipped ones have nothing left to do', async () => {
      const run = await start();
      const failed = await runs.end(run, { status: 'failed', reason: 'abandoned', at: at(5) });
      const again = await runs.end(run, { status: 'completed', at: at(6) });
      const skipped = await runs.end(await start(), { status: 'skipped', reason: 'busy', at: at(5) });

      expect(failed).toMatchObject({
        ...{ status: 'failed', reason: 'abandoned', finishedAt: at(5), pending: [0, 3] },
      });
      expect(again).toEqual(failed);
      expect(skipped).toMatchObject({ status: 'skipped', pending: [] });
    });

    test('a run is admitted or skipped, whichever comes first', async () => {
      const run = await start();
      expect(await runs.admit(run)).toMatchObject({ status: 'running' });
      expect(await runs.admit(run)).toMatchObject({ status: 'running' });
      expect(await runs.end(run, { status: 'skipped', at: at(5) })).toMatchObject({ status: 'running' });
      expect(await runs.end(run, { status: 'failed', at: at(5) })).toMatchObject({ status: 'failed' });

      const other = await start();
      const skipped = await runs.end(other, { status: 'skipped', at: at(5) });
      expect(await runs.admit(other)).toEqual(skipped);
    });

    test('what was dispatched stays so', async () => {
      const run = await start();

      await runs.markDispatched(run);
      await runs.markDispatched(run);

      expect(await runs.get(run)).toMatchObject({ dispatched: true, status: 'running' });
    });

    test('a shard belongs to the message that came first, and is handed over from message to message', async () => {
      const shard = { ...(await start()), shard: 3 };
      const claims = await Promise.all(
        ['a', 'b', 'c'].map((dispatchId) => runs.claimShard(shard, { dispatchId, handOvers: 0 })),
      );
      const dispatchId = claims[0]?.dispatchId ?? '';

      expect(new Set(claims.map((claim) => claim.dispatchId))).toEqual(new Set([dispatchId]));
      await runs.handOver({ ...shard, shard: 0 }, { dispatchId, handOvers: 0 });
      await runs.handOver(shard, { dispatchId: 'someone', handOvers: 0 });
      await runs.handOver(shard, { dispatchId, handOvers: 1 });
      expect(await runs.claimShard(shard, { dispatchId, handOvers: 0 })).toEqual({
        dispatchId,
        handOvers: 0,
      });
      await runs.handOver(shard, { dispatchId, handOvers: 0 });
      await runs.handOver(shard, { dispatchId, handOvers: 0 });
      expect(await runs.claimShard(shard, { dispatchId: 'late', handOvers: 0 })).toEqual({
        dispatchId,
        handOvers: 1,
      });
      expect(
        await runs.claimShard({ ...shard, shard: 0 }, { dispatchId: 'late', handOvers: 0 }),
      ).toMatchObject({
        dispatchId: 'late',
      });
    });

    test('a page is committed once: another writer learns that it was too late, the same one that it was not', async () => {
      const shard = { ...(await start()), shard: 0 };
      const first = await runs.commitPage(shard, noProgress, page([job('a'), job('b', false)]));
      const [late, repeated] = [
        await runs.commitPage(shard, noProgress, page([job('z')], { writer: 'two' })),
        await runs.commitPage(shard, noProgress, page([job('a'), job('b', false)])),
      ];

      expect(first).toEqual({
        ...{ pages: 1, cursor: 'b', done: false, unrecorded: 0 },
        ...{ sessions: 2, ok: 1, failed: 1 },
      });
      expect(late).toBeUndefined();
      expect(repeated).toEqual(first);
      expect(await runs.progress(shard)).toEqual(first);
      const { items } = await jobsOf(shard, { limit: 9 });
      expect(items).toEqual([job('a'), job('b', false)]);
    });

    test('of ten writers of one page one commits it, and its jobs are those that count', async () => {
      const shard = { ...(await start()), shard: 0 };
      const outcomes = await Promise.all(
        Array.from({ length: 10 }, (_, writer) => {
          const jobs = Array.from({ length: writer + 1 }, (_, index) => job(`s${index}`));
          return runs.commitPage(shard, noProgress, page(jobs, { writer: `w${writer}` }));
        }),
      );

      const winners = outcomes.filter((outcome) => outcome !== undefined);
      expect(winners).toHaveLength(1);
      const { items } = await jobsOf(shard, { limit: 99 });
      expect(items).toHaveLength(winners[0]?.sessions ?? -1);
    });

    test('pages add up, a shard counts once, and the last one completes the run', async () => {
      const run = await start();
      const [s0, s3] = [
        { ...run, shard: 0 },
        { ...run, shard: 3 },
      ];
      const p0 = await commit(s0, [
        page([job('a'), job('b')]),
        page([job('c', false)]),
        page([], { cursor: 'c', done: true }),
      ]);
      expect(p0).toMatchObject({ pages: 3, cursor: 'c', done: true, sessions: 3, ok: 2, failed: 1 });
      expect(await currentTotals(runs, run)).toMatchObject({ sessions: 3, ok: 2, failed: 1 });

      const half = await Promise.all([1, 2, 3].map((second) => runs.finishShard(s0, p0, at(second))));
      for (const one of half)
        expect(one).toMatchObject({ status: 'running', sessions: 3, ok: 2, failed: 1, pending: [3] });
      const p3 = await commit(s3, [page([job('d')], { done: true })]);
      expect(await currentTotals(runs, half[0] ?? run)).toMatchObject({ sessions: 4, ok: 3, failed: 1 });
      const whole = await runs.finishShard(s3, p3, at(7));

      expect(whole).toMatchObject({ status: 'completed', sessions: 4, ok: 3, failed: 1, pending: [] });
      expect(whole.finishedAt).toEqual(at(7));
      expect(await runs.finishShard(s3, p3, at(9))).toEqual(whole);
      expect(await currentTotals(runs, whole)).toEqual(whole);
    });

    test('a run with failures that nobody recorded ends as failed', async () => {
      const run = await start();
      const pages = [page([job('a', false)], { unrecorded: 1 }), page([], { cursor: 'a', done: true })];
      const first = await commit({ ...run, shard: 0 }, pages);
      const second = await commit({ ...run, shard: 3 }, [page([job('b')], { done: true })]);

      await runs.finishShard({ ...run, shard: 0 }, first, at(1));
      const ended = await runs.finishShard({ ...run, shard: 3 }, second, at(2));

      expect(ended).toMatchObject({ status: 'failed', sessions: 2, reason: expect.stringContaining('1') });
    });

    test('a run with a shard that was given up ends as failed, with the totals of its jobs', async () => {
      const run = await start();
      const given = await commit({ ...run, shard: 0 }, [page([job('a')])]);
      const whole = await commit({ ...run, shard: 3 }, [page([job('b')], { done: true })]);

      await runs.finishShard({ ...run, shard: 0 }, given, at(1));
      await runs.finishShard({ ...run, shard: 0 }, given, at(1));
      const ended = await runs.finishShard({ ...run, shard: 3 }, whole, at(2));

      expect(ended).toMatchObject({ status: 'failed', sessions: 2, reason: expect.stringContaining('1') });
    });

    test('jobs are listed shard by shard, all of them or by outcome, in pages that add up', async () => {
      const run = await start();
      const jobs: LifecycleJob[] = [];
      for (const shard of [0, 3]) {
        const ofShard = Array.from({ length: 25 }, (_, index) => job(`${shard}-${index}`, index % 10 !== 7));
        jobs.push(...ofShard);
        const pages = [0, 5, 10, 15, 20].map((from) => page(ofShard.slice(from, from + 5)));
        await commit({ ...run, shard }, pages);
      }
      const listed = async (limit: number, ok?: boolean) => {
        const found: LifecycleJob[] = [];
        let after: string | undefined;
        do {
          const { items, next } = await jobsOf(run, { ok, limit, after });
          expect(items.length).toBe(next === undefined ? items.length : limit);
          expect(items.length).toBeGreaterThan(0);
          found.push(...items);
          after = next;
        } while (after !== undefined);
        return found;
      };

      for (const limit of [3, 10, 50, 1000]) expect(await listed(limit)).toEqual(jobs);
      for (const limit of [1, 4, 50]) {
        expect(await listed(limit, false)).toEqual(jobs.filter(({ ok }) => !ok));
        expect(await listed(limit * 5, true)).toEqual(jobs.filter(({ ok }) => ok));
      }
      await expect(jobsOf(run, { limit: 5, after: 'x' })).rejects.toMatchObject({ field: 'after' });
    });

    test('a page of a hundred jobs as large as they come fits', async () => {
      const shard = { ...(await start()), shard: 0 };
      const noise = (length: number, seed: number) =>
        Array.from({ length }, (_, index) =>
          String.fromCharCode(0x4e00 + ((index * 7919 + seed * 104729) % 20000)),
        ).join('');
      const jobs = Array.from({ length: 100 }, (_, index) => ({
        ...job(`${index}${noise(165, index)}`, false),
        result: noise(340, index + 1000),
        error: { kind: 'thrown' as const, reason: noise(500, index + 2000) },
      }));

      await runs.commitPage(shard, noProgress, page(jobs, { done: true }));

      expect((await jobsOf(shard, { limit: 100 })).items).toEqual(jobs);
    });

    test('agents, runs and shards whose names begin alike stay apart', async () => {
      for (const other of [agent, `${agent}0`, `${agent}/1`, `${agent}~1`]) {
        const run = await start({ agent: other });
        await commit({ ...run, shard: 0 }, [page([job(other)])]);
        await commit({ ...run, shard: 3 }, [page([job(`${other} 3`)])]);

        expect((await runs.list({ agent: other, limit: 9 })).items).toEqual([run]);
        const { items } = await jobsOf(run, { limit: 9 });
        expect(items.map(({ sessionId }) => sessionId)).toEqual([other, `${other} 3`]);
      }
    });

    test('a lease has one holder, who may prolong it and give it back', async () => {
      const { leases } = underTest;
      const [one, two] = ['one', 'two'].map((runId) => ({ runId, until: at(60) }));
      const taken = await Promise.all(
        [one, two].map((lease) => leases.acquire(agent, 'digest', lease as never, at(0))),
      );
      const holder = taken[0]?.runId ?? '';
      const other = holder === 'one' ? 'two' : 'one';

      expect(taken.map(({ runId }) => runId)).toEqual([holder, holder]);
      const longer = { runId: holder, until: at(90) };
      expect(await leases.acquire(agent, 'digest', longer, at(30))).toEqual(longer);
      await leases.release(agent, 'digest', other);
      expect(await leases.holder(agent, 'digest')).toEqual(longer);
      expect(await leases.holder(agent, 'digest/x')).toBeUndefined();
      await leases.release(agent, 'digest', holder);
      expect(await leases.holder(agent, 'digest')).toBeUndefined();
    });

    test('a lease is never shortened: a clock that was set back takes no time from the run that holds it', async () => {
      const { leases } = underTest;
      const held = { runId: 'one', until: at(7200) };
      await leases.acquire(agent, 'digest', held, at(0));

      expect(await leases.acquire(agent, 'digest', { runId: 'one', until: at(10) }, at(-7190))).toEqual(held);
      expect(await leases.acquire(agent, 'digest', { runId: 'two', until: at(9999) }, at(60))).toEqual(held);
      expect(await leases.holder(agent, 'digest')).toEqual(held);
    });

    test('a run never ends before it began, also where clocks differ', async () => {
      const [run, other] = [await start(), await start()];
      const before = new Date(run.startedAt.getTime() - 7_200_000);

      const ended = await runs.end(run, { status: 'failed', reason: 'x', at: before });
      for (const shard of [0, 3]) await runs.finishShard({ ...other, shard }, noProgress, before);

      expect(ended.finishedAt).toEqual(run.startedAt);
      expect((await runs.get(other))?.finishedAt).toEqual(other.startedAt);
    });

    test('an agent’s places are never taken by more than there are, and are given back once', async () => {
      const { leases } = underTest;
      const ids = Array.from({ length: 8 }, (_, index) => `run-${index}`);

      const answers = await Promise.all(ids.map((id) => leases.enter(agent, id, 3)));
      const inside = ids.filter((_, index) => answers[index] === undefined);
      const [one = '', ...rest] = inside;

      expect(inside).toHaveLength(3);
      for (const taken of answers.filter((answer) => answer !== undefined))
        expect([...taken].sort()).toEqual([...inside].sort());
      expect(await leases.enter(agent, one, 3)).toBeUndefined();
      expect(await leases.enter(`${agent}/other`, 'x', 3)).toBeUndefined();
      await leases.leave(agent, [one]);
      await leases.leave(agent, [one, 'never there']);
      expect(await leases.enter(agent, 'late', 3)).toBeUndefined();
      expect([...((await leases.enter(agent, one, 3)) ?? [])].sort()).toEqual([...rest, 'late'].sort());
      await leases.leave(agent, [...rest, 'late']);
      expect(await leases.enter(agent, one, 1)).toBeUndefined();
      await leases.leave(`${agent}/nobody`, ['x']);
    });

    test('a lease that is over goes to the next one who asks', async () => {
      const { leases } = underTest;
      await leases.acquire(agent, 'digest', { runId: 'one', until: at(60) }, at(0));

      const early = await leases.acquire(agent, 'digest', { runId: 'two', until: at(99) }, at(59));
      const late = await leases.acquire(agent, 'digest', { runId: 'two', until: at(120) }, at(60));

      expect(early).toEqual({ runId: 'one', until: at(60) });
      expect(late).toEqual({ runId: 'two', until: at(120) });
    });
  });
}
