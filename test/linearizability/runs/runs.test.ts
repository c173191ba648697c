import { describe, expect, test } from 'vitest';
import type { StoredRun } from '../../../lib/runs/run.ts';
import type { StartedRun } from '../../../lib/runs/start-run.ts';
import { type CounterCall, isExact, simulateCounters } from './counters.ts';
import { type Held, hasOneHolder, type LeaseCall, simulateLeases } from './leases.ts';
import { brokenRunLaws, type RunsHistory } from './runs.ts';
import { simulateRuns } from './simulation.ts';

const simulation = { seed: 11, keys: 2, writers: 4, faultRate: 0.3 };

/** One after the other. */
const inTurn = <Call>(calls: object[]) =>
  calls.map((call, index) => ({ ...call, from: 2 * index, to: 2 * index + 1 }) as Call);

describe('a history of a counter', () => {
  const bump = (sum?: number) => ({ kind: 'bump', by: 1, sum });
  const get = (sum: number) => ({ kind: 'get', by: 0, sum });

  test.each([
    ['each counts once', [bump(1), bump(2), get(2)]],
    ['one that failed counts', [bump(1), bump(), get(2)]],
    ['one that failed counts late, or not at all', [bump(), bump(), get(0), get(1)]],
  ])('is exact: %s', (_what, calls) => {
    expect(isExact(inTurn<CounterCall>(calls))).toBe(true);
  });

  test.each([
    ['one is lost', [bump(1), get(0)]],
    ['one that failed counts twice', [bump(), get(2)]],
    ['one is told the sum of a later one', [bump(2), bump(1)]],
    ['two are told the same sum', [bump(1), bump(1)]],
  ])('is not exact: %s', (_what, calls) => {
    expect(isExact(inTurn<CounterCall>(calls))).toBe(false);
  });

  test('of four writers, three in ten requests of whom meet a fault, is exact', async () => {
    const findings = await simulateCounters({ ...simulation, callsPerWriter: 4 });

    expect(findings).toMatchObject({ violations: [], torn: [], orphans: [] });
  });
});

describe('a history of a lease', () => {
  const one: Held = { run: 'one', until: 100 };
  const two: Held = { run: 'two', until: 200 };
  const acquire = (asked: Held, now: number, told: Held | 'unknown' = asked) => ({
    ...{ kind: 'acquire', asked, now, told },
  });
  const release = (run: string, told: 'ok' | 'unknown' = 'ok') => ({ kind: 'release', run, told });
  const holder = (told?: Held) => ({ kind: 'holder', told });

  test.each([
    ['given back', [acquire(one, 0), acquire(two, 1, one), release('one'), acquire(two, 2), holder(two)]],
    ['over', [acquire(one, 0), acquire(two, 100), holder(two)]],
    ['taken by a call that failed', [acquire(one, 0, 'unknown'), acquire(two, 1, one)]],
    ['taken once more by a late request', [acquire(one, 0), release('one'), holder(), holder(one)]],
  ])('has one holder: it is %s', (_what, calls) => {
    expect(hasOneHolder(inTurn<LeaseCall>(calls))).toBe(true);
  });

  test.each([
    ['two hold it at once', [acquire(one, 0), acquire(two, 50)]],
    ['it is refused in the name of nobody who asked', [acquire(one, 0, two)]],
    ['it is not there, and nobody has given it back', [acquire(one, 0), holder()]],
    ['another run has given it back', [acquire(one, 0), release('two'), holder()]],
    [
      'a late request of the first takes it from the second',
      [acquire(one, 0), release('one'), acquire(two, 50), holder(one)],
    ],
  ])('is flagged: %s', (_what, calls) => {
    expect(hasOneHolder(inTurn<LeaseCall>(calls))).toBe(false);
  });

  test('of four writers, three in ten requests of whom meet a fault, has one holder', async () => {
    const findings = await simulateLeases({ ...simulation, callsPerWriter: 3 });

    expect(findings).toMatchObject({ violations: [], torn: [], orphans: [] });
  });
});

describe('runs of an action', () => {
  const run = (runId: string, status: StoredRun['status'], totals = 2) =>
    ({ runId, status, sessions: totals, ok: totals, failed: 0 }) as StoredRun;
  const answer = (tick: string, runId: string, status: StartedRun['status'] = 'started') => ({
    ...{ tick, answer: { status, run: run(runId, 'running') } },
  });
  const visit = (runId: string, session: string, from: number) => ({ runId, session, from, to: from + 5 });
  const sound: RunsHistory = {
    sessions: ['s1', 's2'],
    lastTick: 'two',
    answers: [answer('one', 'r1'), answer('one', 'r1', 'duplicate'), answer('two', 'r2')],
    runs: [
      { run: run('r1', 'completed'), jobs: ['s1', 's2'] },
      { run: run('r2', 'completed'), jobs: ['s2', 's1'] },
    ],
    visits: [visit('r1', 's1', 0), visit('r1', 's2', 0), visit('r2', 's1', 10), visit('r2', 's2', 10)],
  };
  const firstRun = (changed: Partial<RunsHistory['runs'][number]>): Partial<RunsHistory> => ({
    runs: sound.runs.map((one, index) => (index === 0 ? { ...one, ...changed } : one)),
  });

  test('are as they must be', () => {
    expect(brokenRunLaws(sound)).toEqual([]);
  });

  test.each<[string, Partial<RunsHistory>]>([
    ['several runs', { answers: [...sound.answers, answer('one', 'r2', 'duplicate')] }],
    ['3 runs', { runs: [...sound.runs, { run: run('r3', 'skipped', 0), jobs: [] }] }],
    ['started twice', { answers: [...sound.answers, answer('one', 'r1')] }],
    ['has the jobs s1 s1', firstRun({ jobs: ['s1', 's1'] })],
    ['has 2 jobs, and counts 3', firstRun({ run: run('r1', 'completed', 3) })],
    ['has left sessions out', { visits: sound.visits.slice(1) }],
    ['is running', firstRun({ run: run('r1', 'running') })],
    ['is skipped, and has visited', firstRun({ run: run('r1', 'skipped', 0), jobs: [] })],
    ['beside no other run', { lastTick: 'one', ...firstRun({ run: run('r1', 'skipped', 0) }) }],
    ['all runs were skipped', firstRun({ run: run('r1', 'skipped', 0) })],
    ['at the same time', { visits: [...sound.visits, visit('r2', 's1', 3)] }],
  ])('are flagged: %s', (law, change) => {
    expect(brokenRunLaws({ ...sound, ...change })).toEqual(
      expect.arrayContaining([expect.stringContaining(law)]),
    );
  });

  test('that four processes start and work on, three in ten requests of whom meet a fault, are as they must be', async () => {
    const findings = await simulateRuns({ ...simulation, callsPerWriter: 1 });

    expect(findings).toMatchObject({ violations: [], torn: [], orphans: [] });
  });
});
