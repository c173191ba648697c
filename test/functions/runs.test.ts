import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { handler as getRun } from '../../functions/http/get-run.ts';
import type { HttpHandler } from '../../functions/http/http-handler.ts';
import { handler as listJobs } from '../../functions/http/list-jobs.ts';
import { handler as listRuns } from '../../functions/http/list-runs.ts';
import { handler as startRun } from '../../functions/http/start-run.ts';
import { handler as dispatch } from '../../functions/lifecycle/dispatch.ts';
import { handler as work } from '../../functions/lifecycle/work.ts';
import { type Services, useServices } from '../../functions/services.ts';
import { defineAgent } from '../../lib/agents/define-agent.ts';
import { sessionShards } from '../../lib/defaults.ts';
import type { Operation } from '../../lib/http/routes.ts';
import { cancelled } from '../../lib/lifecycle/job-outcome.ts';
import { CorruptError, UnavailableError } from '../../lib/persistence/persistence-error.ts';
import { requestedRunId } from '../../lib/runs/run-id.ts';
import { capturedLog } from '../support/captured-log.ts';
import { expectDescribed } from '../support/described-answer.ts';
import { httpEvent } from '../support/http-event.ts';
import {
  failing,
  type LifecycleFunctions,
  lambdaContext,
  lifecycleFunctions,
  sqsEvent,
} from '../support/lifecycle-functions.ts';

const support = defineAgent({
  name: 'support',
  actions: {
    digest: ({ id }) => {
      if (id === 's3') throw new Error('the model is away');
      return id === 's4' ? cancelled('paused') : { sent: id };
    },
    '50%/day~': () => undefined,
  },
});
const other = defineAgent({ name: 'other', actions: { digest: () => undefined } });
const handlers: Partial<Record<Operation, [HttpHandler, string]>> = {
  'start-run': [startRun, 'POST'],
  'list-runs': [listRuns, 'GET'],
  'get-run': [getRun, 'GET'],
  'list-jobs': [listJobs, 'GET'],
};
const isoTime = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);

interface Asked {
  readonly agent?: string;
  readonly run?: string;
  readonly body?: string;
  readonly query?: Record<string, string>;
  readonly headers?: Record<string, string>;
  readonly claims?: Record<string, string>;
}

let functions: LifecycleFunctions;
let lines: string[];

beforeEach(async () => {
  lines = capturedLog();
  vi.spyOn(Math, 'random').mockReturnValue(0);
  functions = lifecycleFunctions([support, other]);
  await functions.register(5);
});
afterEach(() => {
  vi.restoreAllMocks();
});

/** The answer of an operation, held against what the OpenAPI document says of it. */
const ask = async (operation: Operation, { agent = 'support', run, ...parts }: Asked = {}) => {
  const [handler, method] = handlers[operation] ?? [];
  if (handler === undefined || method === undefined) throw new Error(`no handler for ${operation}`);
  const event = httpEvent({ method, agent, headers: { 'content-type': 'application/json' }, ...parts });
  const pathParameters = { agent, ...(run !== undefined && { run }) };
  const { statusCode, headers, body } = await handler({ ...event, pathParameters });
  const answer = { statusCode, headers, body: body ? JSON.parse(body) : undefined };
  expectDescribed(operation, answer);
  return answer;
};
const start = async (body: unknown = { action: 'digest' }, more: Asked = {}) => {
  const { body: answer } = await ask('start-run', { body: JSON.stringify(body), ...more });
  return answer.runId as string;
};
const give = (changes: Partial<Services>) => useServices({ ...functions.services, ...changes });
const ended = async (body?: unknown, more?: Asked) => {
  const run = await start(body, more);
  await functions.drain();
  return run;
};
const newestFirst = async (query: Record<string, string> = {}, more: Asked = {}) =>
  (await ask('list-runs', { query, ...more })).body.items.map(({ runId }: { runId: string }) => runId);

describe('POST /runs', () => {
  test('starts a run, and says where it is', async () => {
    const { statusCode, headers, body } = await ask('start-run', { body: '{"action":"digest"}' });

    expect([statusCode, body]).toEqual([
      202,
      { runId: expect.stringMatching(/^\d{8}T\d{9}Z-[0-9a-f]{24}$/) },
    ]);
    expect(headers).toMatchObject({
      ...{ 'content-type': 'application/json', location: `/v1/agents/support/runs/${body.runId}` },
    });
    await functions.drain();
    expect((await ask('get-run', { run: body.runId })).body).toEqual({
      ...{ runId: body.runId, agent: 'support', action: 'digest', trigger: 'request', status: 'completed' },
      ...{ startedAt: isoTime, finishedAt: isoTime, sessions: 5, ok: 3, failed: 2 },
    });
  });

  test('visits the sessions that are named, if they are registered', async () => {
    const run = await ended({ action: 'digest', sessions: ['s5', 's1', 's5', 'nobody'] });

    const { items } = (await ask('list-jobs', { run })).body;
    expect(items.map(({ sessionId }: { sessionId: string }) => sessionId).sort()).toEqual(['s1', 's5']);
  });

  test('while another run of the action is going gives one that is skipped, and shows why', async () => {
    const first = await start();
    const second = await start();

    expect((await ask('get-run', { run: second })).body).toEqual({
      ...{ runId: second, agent: 'support', action: 'digest', trigger: 'request', status: 'skipped' },
      ...{ reason: 'another run of this action is still going', startedAt: isoTime, finishedAt: isoTime },
      ...{ sessions: 0, ok: 0, failed: 0 },
    });
    expect((await ask('get-run', { run: first })).body.status).toBe('running');

    give({ overlap: 'allow' });
    expect((await ask('get-run', { run: await start() })).body.status).toBe('running');
  });

  test('takes the action that every agent has', async () => {
    const run = await ended({ action: 'prune-raw-memory' }, { agent: 'other' });

    expect((await ask('get-run', { agent: 'other', run })).body).toMatchObject({ status: 'completed' });
  });

  const notAll = 'sessions: must be an array of 1 to 100 session ids';
  test.each([
    ['', 'invalid_request', 'the body must be a JSON object'],
    ['[]', 'invalid_request', 'the body must be a JSON object'],
    ['"digest"', 'invalid_request', 'the body must be a JSON object'],
    ['{"action":', 'invalid_json', 'JSON'],
    ['{"action":"digest","session":["s1"]}', 'invalid_request', "there is no field 'session'"],
    ['{}', 'invalid_input', 'action: must be a non-empty string'],
    ['{"action":""}', 'invalid_input', 'action: must be a non-empty string'],
    ['{"action":["digest"]}', 'invalid_input', 'action: must be a non-empty string'],
    [`{"action":"${'a'.repeat(513)}"}`, 'invalid_input', 'action: is 513 bytes, the limit is 512'],
    ['{"action":"gone"}', 'unknown_action', `the agent 'support' has no action "gone"`],
    ['{"action":"toString"}', 'unknown_action', 'toString'],
    ['{"action":"digest","sessions":[]}', 'invalid_input', notAll],
    ['{"action":"digest","sessions":null}', 'invalid_input', notAll],
    ['{"action":"digest","sessions":""}', 'invalid_input', notAll],
    ['{"action":"digest","sessions":false}', 'invalid_input', notAll],
    ['{"action":"digest","sessions":"s1"}', 'invalid_input', notAll],
    ['{"action":"digest","sessions":{"0":"s1"}}', 'invalid_input', notAll],
    [JSON.stringify({ action: 'digest', sessions: Array(101).fill('s1') }), 'invalid_input', notAll],
    ['{"action":"digest","sessions":["s1",7]}', 'invalid_input', 'sessions[1]: must be a non-empty string'],
    ['{"action":"digest","sessions":["s1",""]}', 'invalid_input', 'sessions[1]: must be a non-empty string'],
  ])('%s is 400 %s, and nothing is started', async (body, code, detail) => {
    const answer = await ask('start-run', body === '' ? {} : { body });

    expect(answer).toMatchObject({ statusCode: 400, body: { code } });
    expect(answer.body.detail).toContain(detail);
    expect(await newestFirst()).toEqual([]);
    expect(functions.queue.waiting).toBe(0);
  });

  test('takes JSON only', async () => {
    const headers = { 'content-type': 'text/plain' };

    expect(await ask('start-run', { body: '{"action":"digest"}', headers })).toMatchObject({
      ...{ statusCode: 415, body: { code: 'unsupported_media_type' } },
    });
  });

  test('for an agent that nobody has defined is unknown_action; under strictAgents the agent is 404', async () => {
    const wanted = { agent: 'nobody', body: '{"action":"digest"}' };
    expect(await ask('start-run', wanted)).toMatchObject({
      statusCode: 400,
      body: { code: 'unknown_action' },
    });

    give({ strictAgents: true });
    for (const operation of ['start-run', 'list-runs', 'get-run', 'list-jobs'] as const)
      expect(await ask(operation, { ...wanted, run: 'r' })).toMatchObject({
        ...{ statusCode: 404, body: { code: 'unknown_agent' } },
      });
  });

  test('that cannot reach the queue is 503, and the next one is not kept waiting', async () => {
    const { runs, leases, queue } = functions;
    const away = new UnavailableError('SQS failed', { retryable: false });
    give({ lifecycle: { runs, leases, queue: failing(queue, away, ['send']) } });
    const refused = await ask('start-run', { body: '{"action":"digest"}' });
    give({});
    const run = await ended();

    expect([refused.statusCode, refused.headers?.['retry-after']]).toEqual([503, '1']);
    expect((await ask('list-runs')).body.items).toMatchObject([
      { runId: run, status: 'completed' },
      { status: 'failed', reason: 'it could not be started', sessions: 0 },
    ]);
  });
});

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
    give({ overlap: 'allow' });
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
    const { leases, queue } = functions;
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
  expect(refused.body.detail).toBe(`the agent 'support' has no action "gone"`);
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
