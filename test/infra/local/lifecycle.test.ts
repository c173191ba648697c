import { afterEach, describe, expect, it, vi } from 'vitest';
import { type LocalServer, type LocalServerOptions, startLocalServer } from '../../../infra/local/server.ts';
import { defineAgent } from '../../../lib/agents/define-agent.ts';
import { scheduleDescriptor } from '../../../lib/schedules/schedule-descriptor.ts';
import { sdkError } from '../../support/failing-client.ts';
import { gate } from '../../support/gate.ts';
import { temporaryFolder } from './local-process.ts';

const servers: LocalServer[] = [];
afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.close()));
  vi.useRealTimers();
  vi.restoreAllMocks();
});

async function start(options: Partial<LocalServerOptions> = {}): Promise<LocalServer> {
  const server = await startLocalServer({ port: 0, quiet: true, ...options });
  servers.push(server);
  return server;
}

async function call({ url }: LocalServer, method: string, path: string, body?: unknown) {
  const response = await fetch(`${url}${path}`, {
    method,
    ...(body !== undefined && {
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    }),
  });
  // biome-ignore lint/suspicious/noExplicitAny: each test looks at what it expects.
  const answer: any = await response.json();
  return { status: response.status, headers: response.headers, answer };
}

async function register(server: LocalServer, agent: string, count: number): Promise<void> {
  for (let index = 0; index < count; index++)
    await call(server, 'PUT', `/v1/agents/${agent}/sessions/s${index}`, {});
}

const startRun = async (server: LocalServer, agent: string, action: string): Promise<string> =>
  (await call(server, 'POST', `/v1/agents/${agent}/runs`, { action })).answer.runId;

const runsOf = async (server: LocalServer, agent: string) =>
  (await call(server, 'GET', `/v1/agents/${agent}/runs`)).answer.items;

/** The run, once it is over. */
const ended = (server: LocalServer, agent: string, runId: string) =>
  vi.waitFor(async () => {
    const { answer } = await call(server, 'GET', `/v1/agents/${agent}/runs/${runId}`);
    expect(answer.status).not.toBe('running');
    return answer;
  }, 20_000);

describe('runs', () => {
  it('are worked on by the server that was asked, with its own agents', async () => {
    const saying = (word: string) =>
      start({ agents: [defineAgent({ name: 'a', actions: { say: () => word } })] });
    const [one, other] = await Promise.all([saying('one'), saying('other')]);
    const words = await Promise.all(
      [one, other].map(async (server) => {
        await register(server, 'a', 20);
        const runId = await startRun(server, 'a', 'say');
        expect(await ended(server, 'a', runId)).toMatchObject({ status: 'completed', ok: 20 });
        const { answer } = await call(server, 'GET', `/v1/agents/a/runs/${runId}/jobs`);
        return answer.items.map(({ result }: { result: string }) => result);
      }),
    );

    expect(words).toEqual([Array(20).fill('one'), Array(20).fill('other')]);
  });

  it('whose messages fail for good end as failed, with their dead letters shown', async () => {
    const printed = vi.spyOn(console, 'error').mockImplementation(() => {});
    const server = await start({
      agents: [defineAgent({ name: 'a', actions: { greet: () => 'hello' } })],
      redeliveryMs: 1,
    });
    await register(server, 'a', 1);
    server.dynamoDb.middlewareStack.add(
      (next) => (given) => {
        if (JSON.stringify(given.input).includes('page/')) throw sdkError('ValidationException');
        return next(given);
      },
      { step: 'initialize' },
    );

    const runId = await startRun(server, 'a', 'greet');
    const letters = await vi.waitFor(async () => {
      const { answer } = await call(server, 'GET', '/_local/dead-letters');
      expect(answer.items).toHaveLength(16);
      return answer.items;
    }, 20_000);

    expect(letters).toContainEqual({
      ...{ agent: 'a', runId, shard: 3 },
      error: 'DynamoDB failed (ValidationException)',
    });
    expect(printed).toHaveBeenCalledTimes(16);
  });
});

describe('a schedule', () => {
  const digest = vi.fn(() => null);
  const actions = { digest };
  const nightly = scheduleDescriptor('nightly', '0 2 * * *', 'digest');
  const agents = ['a', 'b'].map((name) => defineAgent({ name, actions, schedules: [nightly] }));
  const time = '2027-01-01T02:00:00.000Z';
  const tick = { schedule: 'nightly', action: 'digest', time };

  it('is fired over HTTP, once for each time', async () => {
    const server = await start({ agents });

    const first = await call(server, 'POST', `/_local/schedules/nightly/fire?time=${time}&agent=a`);
    const second = await call(server, 'POST', `/_local/schedules/nightly/fire?time=2027-01-01T02:00:59Z`);

    expect(first).toMatchObject({
      status: 202,
      answer: { items: [{ agent: 'a', ...tick, started: 1, duplicate: 0, skipped: 0 }] },
    });
    expect(second.answer.items).toMatchObject([
      { agent: 'a', started: 0, duplicate: 1, skipped: 0 },
      { agent: 'b', started: 1, duplicate: 0, skipped: 0 },
    ]);
    const [run, ...more] = await runsOf(server, 'a');
    expect(run).toMatchObject({ trigger: 'schedule', schedule: 'nightly', action: 'digest' });
    expect(more).toEqual([]);
    await ended(server, 'a', run.runId);
  });

  it('is fired with the time of now unless one is given', async () => {
    const server = await start({ agents });
    const before = new Date().toISOString();

    const { answer } = await call(server, 'POST', '/_local/schedules/nightly/fire');

    expect(answer.items[0].time >= before).toBe(true);
    expect(answer.items[0].time <= new Date().toISOString()).toBe(true);
  });

  it.each([
    ['POST', '/_local/schedules/unknown/fire', 404, 'not_found'],
    ['POST', '/_local/schedules/nightly/fire?agent=c', 404, 'not_found'],
    ['POST', '/_local/schedules/nightly/fire?time=soon', 400, 'invalid_input'],
    ['POST', '/_local/schedules/nightly/fire?time=', 400, 'invalid_input'],
    ['POST', '/_local/schedules/nightly/fire?tim=2027-01-01T02:00:00Z', 400, 'invalid_request'],
    ['POST', '/_local/schedules/nightly/fire?agent=a&agent=b', 400, 'invalid_request'],
    ['POST', '/_local/schedules/nightly/fire??agent=a', 400, 'invalid_request'],
    ['GET', '/_local/dead-letters?limit=1', 400, 'invalid_request'],
    ['GET', '/_local/schedules/nightly/fire', 405, 'method_not_allowed'],
    ['DELETE', '/_local/dead-letters', 405, 'method_not_allowed'],
    ['POST', '/_local/schedules/nightly', 404, 'not_found'],
    ['POST', '/_local/schedules/%zz/fire', 400, 'invalid_request'],
  ])('is not fired by %s %s: %i %s', async (method, path, status, code) => {
    const server = await start({ agents });

    const refused = await call(server, method, path);

    expect(refused).toMatchObject({ status, answer: { code, status } });
    expect(refused.headers.get('content-type')).toBe('application/problem+json');
    expect(refused.headers.get('allow')).toBe(status === 405 ? (method === 'GET' ? 'POST' : 'GET') : null);
    expect(await runsOf(server, 'a')).toEqual([]);
  });

  it('is not fired by a request that says in a body what it wants', async () => {
    const server = await start({ agents });

    const refused = await call(server, 'POST', '/_local/schedules/nightly/fire', { time });

    expect(refused).toMatchObject({ status: 400, answer: { code: 'invalid_request' } });
    expect(await runsOf(server, 'a')).toEqual([]);
  });

  it('fires on time where the server is asked to, and not otherwise', async () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    vi.setSystemTime('2027-01-01T11:59:59.950Z');
    const launch = scheduleDescriptor('launch', 'at(2027-01-01T12:00:00)', 'digest');
    const launching = [defineAgent({ name: 'a', actions, schedules: [launch] })];
    const [ticking, still] = await Promise.all([
      start({ agents: launching, schedules: true }),
      start({ agents: launching }),
    ]);
    vi.setSystemTime('2027-01-01T12:00:00.000Z');

    await vi.waitFor(async () => {
      expect(await runsOf(ticking, 'a')).toMatchObject([{ schedule: 'launch', trigger: 'schedule' }]);
    }, 20_000);

    expect(await runsOf(still, 'a')).toEqual([]);
  });
});

describe('a run that the end of the server cut off', () => {
  const visits: string[] = [];
  const visiting = gate();
  const agent = defineAgent({
    name: 'a',
    actions: {
      visit: async ({ id }) => {
        visits.push(id);
        await visiting.promise;
      },
    },
    limits: { sessionConcurrency: 1 },
  });

  it('goes on at the next start that knows its agent, and its totals are exact', async () => {
    const data = temporaryFolder();
    const first = await start({ data, agents: [agent] });
    await register(first, 'a', 60);
    const runId = await startRun(first, 'a', 'visit');
    await vi.waitFor(() => expect(visits).toHaveLength(4));
    const closing = first.close();
    visiting.open();
    await closing;
    expect(visits).toHaveLength(4);

    const without = await start({ data, agents: [] });
    expect((await runsOf(without, 'a'))[0]).toMatchObject({ runId, status: 'running', sessions: 4 });
    await without.close();

    const last = await start({ data, agents: [agent] });
    expect(await ended(last, 'a', runId)).toMatchObject({
      ...{ status: 'completed', sessions: 60, ok: 60, failed: 0 },
    });
    expect(visits).toHaveLength(60);
    expect(new Set(visits).size).toBe(60);
  });
});
