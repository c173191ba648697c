import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { UnavailableError } from '../../lib/errors.ts';
import { capturedLog } from '../support/captured-log.ts';
import { failing, type LifecycleFunctions, lifecycleFunctions } from '../support/lifecycle-functions.ts';
import { type Asked, agentsWithRuns, ask, newestFirst, start, startAndEnd } from '../support/runs-api.ts';

const isoTime = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);

let functions: LifecycleFunctions;

beforeEach(async () => {
  capturedLog();
  vi.spyOn(Math, 'random').mockReturnValue(0);
  functions = lifecycleFunctions(agentsWithRuns);
  await functions.register(5);
});
afterEach(() => {
  vi.restoreAllMocks();
});

const give: LifecycleFunctions['give'] = (changes) => functions.give(changes);
const ended = (body?: unknown, more?: Asked) => startAndEnd(functions, body, more);

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

  test('where requested runs may overlap takes 50 of them, then answers 429 until one has ended', async () => {
    give({ overlap: 'allow' });
    const started = await Promise.all(
      Array.from({ length: 55 }, () => ask('start-run', { body: '{"action":"digest"}' })),
    );

    const refused = started.filter(({ statusCode }) => statusCode === 429);
    expect(started.filter(({ statusCode }) => statusCode === 202)).toHaveLength(50);
    expect(refused).toHaveLength(5);
    expect(refused[0]).toMatchObject({ body: { code: 'too_many_runs' }, headers: { 'retry-after': '30' } });
    expect((await functions.runs.list({ agent: 'support', limit: 99 })).items).toHaveLength(50);
    await functions.drain();
    expect((await ask('start-run', { body: '{"action":"digest"}' })).statusCode).toBe(202);
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
    ['{"action":"gone"}', 'unknown_action', `the agent 'support' has no action "gone": it has `],
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
    const { items } = (await ask('list-runs')).body;
    expect(items).toHaveLength(2);
    const isLater = ({ runId }: { runId: string }) => runId === run;
    expect(items.find(isLater)).toMatchObject({ status: 'completed' });
    expect(items.find((item: { runId: string }) => !isLater(item))).toMatchObject({
      ...{ status: 'failed', reason: 'it could not be started', sessions: 0 },
    });
  });
});
