import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { handler as dispatch } from '../../functions/lifecycle/dispatch.ts';
import { handler as work } from '../../functions/lifecycle/work.ts';
import { sessionShards } from '../../lib/defaults.ts';
import { CorruptError, UnavailableError } from '../../lib/errors.ts';
import { requestedRunId } from '../../lib/runs/run-id.ts';
import { capturedLog } from '../support/captured-log.ts';
import {
  failing,
  type LifecycleFunctions,
  lambdaContext,
  lifecycleFunctions,
  sqsEvent,
} from '../support/lifecycle-functions.ts';
import { type Asked, agentsWithRuns, ask, newestFirst, start, startAndEnd } from '../support/runs-api.ts';

let functions: LifecycleFunctions;
let lines: string[];

beforeEach(async () => {
  lines = capturedLog();
  vi.spyOn(Math, 'random').mockReturnValue(0);
  functions = lifecycleFunctions(agentsWithRuns);
  await functions.register(5);
});
afterEach(() => {
  vi.restoreAllMocks();
});

const give: LifecycleFunctions['give'] = (changes) => functions.give(changes);
const ended = (body?: unknown, more?: Asked) => startAndEnd(functions, body, more);

describe('GET /runs', () => {
  /** Runs in the order in which they start; those of one millisecond would lie in the order of their hashes. */
  const seven = async () => {
    const started: string[] = [];
    for (let index = 0; index < 7; index++) {
      vi.setSystemTime(new Date(Date.UTC(2027, 0, 1, 0, 0, index)));
      started.push(await ended({ action: index % 3 === 0 ? '50%/day~' : 'digest' }));
    }
    return started.reverse();
  };

  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['Date'] });
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  test('lists newest first, all or of one action', async () => {
    const runs = await seven();

    expect(await newestFirst()).toEqual(runs);
    expect(await newestFirst({ action: '50%/day~' })).toEqual([0, 3, 6].map((index) => runs[index]));
    expect(await newestFirst({ action: '50%' })).toEqual([]);
    expect(await newestFirst({}, { agent: 'other' })).toEqual([]);
  });

  test('is read page by page; a cursor goes on in its own list only', async () => {
    const runs = await seven();
    const found: string[] = [];
    let cursor: string | undefined;
    do {
      const query: Record<string, string> = { limit: '2', ...(cursor !== undefined && { cursor }) };
      const { body } = await ask('list-runs', { query });
      expect(body.items.length).toBeLessThanOrEqual(2);
      found.push(...body.items.map(({ runId }: { runId: string }) => runId));
      cursor = body.cursor;
    } while (cursor !== undefined);
    expect(found).toEqual(runs);

    const { body } = await ask('list-runs', { query: { limit: '2' } });
    for (const [query, agent] of [
      [{ cursor: `${body.cursor}A` }, 'support'],
      [{ cursor: body.cursor.slice(1) }, 'support'],
      [{ cursor: '' }, 'support'],
      [{ cursor: body.cursor, action: 'digest' }, 'support'],
      [{ cursor: body.cursor }, 'other'],
    ] as const)
      expect(await ask('list-runs', { query, agent })).toMatchObject({
        ...{ statusCode: 400, body: { code: 'invalid_cursor' } },
      });
    expect(await ask('list-jobs', { run: runs[0] ?? '', query: { cursor: body.cursor } })).toMatchObject({
      statusCode: 400,
      body: { code: 'invalid_cursor' },
    });
  });

  test.each(['0', '-1', '1001', '1e2', '05', 'many', ''])('a limit of %o is 400', async (limit) => {
    const run = await start();
    for (const operation of ['list-runs', 'list-jobs'] as const)
      expect(await ask(operation, { run, query: { limit } })).toMatchObject({
        ...{ statusCode: 400, body: { code: 'invalid_request', detail: expect.stringContaining('limit') } },
      });
  });

  test.each(['', 'a'.repeat(513)])('an action that can be none is 400: %o', async (action) => {
    expect(await ask('list-runs', { query: { action } })).toMatchObject({
      ...{ statusCode: 400, body: { code: 'invalid_input', detail: expect.stringContaining('action') } },
    });
  });

  test('of many that are going on ends early, so that no answer takes thousands of reads', async () => {
    const { queue } = functions;
    // More than may be requested by now: those of schedules are not counted.
    const leases = { ...functions.leases, enter: async () => undefined };
    give({ overlap: 'allow', lifecycle: { runs: functions.runs, leases, queue } });
    const runs: string[] = [];
    for (let index = 0; index < 120; index++) {
      vi.setSystemTime(new Date(Date.UTC(2027, 0, 1, 0, 0, index)));
      runs.unshift(await start({ action: 'digest', sessions: ['s1', 's2'] }));
    }
    let reads = 0;
    const progress: typeof functions.runs.progress = (shard) => {
      reads++;
      return functions.runs.progress(shard);
    };
    give({ overlap: 'allow', lifecycle: { runs: { ...functions.runs, progress }, leases, queue } });

    const found: string[] = [];
    let cursor: string | undefined;
    do {
      reads = 0;
      const query: Record<string, string> = { limit: '1000', ...(cursor !== undefined && { cursor }) };
      const { body } = await ask('list-runs', { query });
      expect(reads).toBeLessThanOrEqual(75 * sessionShards);
      expect(body.items.length).toBeLessThan(75);
      found.push(...body.items.map(({ runId }: { runId: string }) => runId));
      cursor = body.cursor;
    } while (cursor !== undefined);

    expect(found).toEqual(runs);
  });

  test('shows the schedule of a run that one started', async () => {
    await dispatch({ agent: 'support', action: 'digest', schedule: 'nightly', time: '2027-01-01T02:00:00Z' });

    expect((await ask('list-runs')).body.items).toMatchObject([
      { trigger: 'schedule', schedule: 'nightly', status: 'running' },
    ]);
  });
});

describe('GET /runs/{run} and its jobs', () => {
  test('while it is going on its totals are those of the jobs that are there', async () => {
    await functions.register(60);
    const run = await start();
    let delivered = 0;
    await functions.queue.drain(async (message) => {
      if (++delivered <= 9) await work(sqsEvent([message]), lambdaContext());
    });

    const { body } = await ask('get-run', { run });
    const jobs = (await ask('list-jobs', { run, query: { limit: '1000' } })).body.items;

    expect(body).toMatchObject({ status: 'running', sessions: jobs.length, ok: jobs.length - body.failed });
    expect(body).not.toHaveProperty('finishedAt');
    expect(jobs.length).toBeGreaterThan(10);
    expect(jobs.length).toBeLessThan(60);
    expect((await ask('list-runs')).body.items).toEqual([body]);
  });

  test('its jobs are those that succeeded, those that did not, or all', async () => {
    const run = await ended();
    const jobs = async (query: Record<string, string>) => {
      const { items } = (await ask('list-jobs', { run, query })).body;
      return items.sort((a: { sessionId: string }, b: { sessionId: string }) =>
        a.sessionId < b.sessionId ? -1 : 1,
      );
    };
    const ok = (sessionId: string) => ({
      ...{ sessionId, action: 'digest', ok: true, result: { sent: sessionId }, error: null },
    });
    const failures = [
      ['s3', { kind: 'thrown', reason: 'the model is away' }],
      ['s4', { kind: 'cancelled', reason: 'paused' }],
    ].map(([sessionId, error]) => ({ sessionId, action: 'digest', ok: false, result: null, error }));

    expect(await jobs({ ok: 'true' })).toEqual(['s1', 's2', 's5'].map(ok));
    expect(await jobs({ ok: 'false' })).toEqual(failures);
    expect(await jobs({})).toEqual([ok('s1'), ok('s2'), ...failures, ok('s5')]);
  });

  test.each(['', 'TRUE', '1', 'yes', 'null'])('jobs whose ok is %o are 400', async (ok) => {
    const run = await start();

    expect(await ask('list-jobs', { run, query: { ok } })).toMatchObject({
      ...{ statusCode: 400, body: { code: 'invalid_request', detail: "ok must be 'true' or 'false'" } },
    });
  });

  test('its jobs are read page by page; a cursor goes on in its own list only', async () => {
    const [first, second] = [await ended(), await ended()];
    const found: string[] = [];
    let cursor: string | undefined;
    do {
      const query: Record<string, string> = { limit: '2', ...(cursor !== undefined && { cursor }) };
      const { body } = await ask('list-jobs', { run: first, query });
      found.push(...body.items.map(({ sessionId }: { sessionId: string }) => sessionId));
      cursor = body.cursor;
    } while (cursor !== undefined);
    expect(found.sort()).toEqual(['s1', 's2', 's3', 's4', 's5']);

    const { body } = await ask('list-jobs', { run: first, query: { limit: '2' } });
    for (const [run, query] of [
      [second, { cursor: body.cursor }],
      [first, { cursor: body.cursor, ok: 'true' }],
      [first, { cursor: Buffer.from('0/0/0').toString('base64url') }],
    ] as const)
      expect(await ask('list-jobs', { run, query })).toMatchObject({
        ...{ statusCode: 400, body: { code: 'invalid_cursor' } },
      });
  });

  test('a run that is not there, or is another agent’s, or can be none, is 404 run_not_found', async () => {
    const elsewhere = await start({ action: 'digest' }, { agent: 'other' });
    const never = requestedRunId(new Date(), 'never started');

    for (const run of [elsewhere, never, `${elsewhere}0`, 'ann@example.com', 'r'.repeat(5_000), '..', ''])
      for (const operation of ['get-run', 'list-jobs'] as const)
        expect(await ask(operation, { run })).toMatchObject({
          ...{ statusCode: 404, body: { code: 'run_not_found' } },
        });
    expect(lines.join()).not.toContain('ann@');
  });

  test('what can be no id is not looked for: it may be longer than a key', async () => {
    const { runs, leases, queue } = functions;
    give({ lifecycle: { runs: failing(runs, new Error('looked for')), leases, queue } });

    expect(await ask('get-run', { run: 'r'.repeat(5_000) })).toMatchObject({ statusCode: 404 });
  });
});

test('tenants do not see each other’s runs', async () => {
  give({ tenantClaim: 'org' });
  const [one, two] = [{ claims: { org: 'one' } }, { claims: { org: 'two' } }];
  await functions.register(2, 'one~support');
  const run = await ended({ action: 'digest' }, one);

  expect((await ask('get-run', { run, ...one })).body).toMatchObject({ agent: 'support', sessions: 2 });
  expect((await ask('list-jobs', { run, ...one })).body.items).toHaveLength(2);
  expect(await newestFirst({}, one)).toEqual([run]);
  for (const operation of ['get-run', 'list-jobs'] as const)
    expect(await ask(operation, { run, ...two })).toMatchObject({ statusCode: 404 });
  expect(await newestFirst({}, two)).toEqual([]);
  const refused = await ask('start-run', { body: '{"action":"gone"}', ...two });
  expect(refused.body.detail).toBe(
    `the agent 'support' has no action "gone": it has "digest", "50%/day~", "prune-raw-memory"`,
  );
  expect(await ask('list-runs')).toMatchObject({ statusCode: 403, body: { code: 'forbidden' } });
  expect(lines.join()).not.toContain('~support');
});

describe('storage that fails has its own answer, never 404', () => {
  test.each([
    [new UnavailableError('x', { throttled: true }), 429, 'throttled'],
    [new UnavailableError('x', { retryable: false }), 503, 'unavailable'],
    [new CorruptError('x'), 500, 'corrupt'],
    [new Error('x'), 500, 'internal'],
  ])('%o is %i %s', async (error, status, code) => {
    const run = await ended();
    const { runs, leases, queue } = functions;
    give({ lifecycle: { runs: failing(runs, error), leases: failing(leases, error), queue } });

    for (const operation of ['start-run', 'list-runs', 'get-run', 'list-jobs'] as const) {
      lines.length = 0;
      const { statusCode, headers, body } = await ask(operation, { run, body: '{"action":"digest"}' });

      expect([operation, statusCode, body.code]).toEqual([operation, status, code]);
      expect(headers?.['retry-after']).toBe(error instanceof UnavailableError ? '1' : undefined);
      expect(lines.map((line) => JSON.parse(line).code)).toEqual([code]);
    }
  });
});
