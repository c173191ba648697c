import { afterAll, describe, expect, vi } from 'vitest';
import { httpCase } from './case.ts';
import { deployment } from './deployment.ts';

interface Run {
  runId: string;
  action: string;
  status: string;
  sessions: number;
}
interface Job {
  sessionId: string;
  ok: boolean;
  result: unknown;
  error: { kind: string; reason: string } | null;
}
interface Page<Item> {
  items: Item[];
  cursor?: string;
}

const json = { 'content-type': 'application/json' };
const isoTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
/** A queue, a cold start and what else is to do in a deployment. */
const patience = { timeout: 120_000, interval: 250 };
const caseMs = 300_000;

/**
 * The agents of agents.ts are shared by all who test a deployment, so each run is one over sessions of this file's own.
 * Another run of an action may be going on: then ours is skipped, and asked for again.
 */
describe('runs over HTTP', () => {
  const { agent: unique, call } = deployment();
  const registered: string[] = [];
  const sessionAt = (of: string, session: string) => `/v1/agents/${of}/sessions/${session}`;

  async function register(of: string, name: string, meta: object = {}): Promise<string> {
    const session = `${unique}-${name}`;
    const body = JSON.stringify({ meta });
    expect((await call('PUT', sessionAt(of, session), { body, headers: json })).status).toBe(201);
    registered.push(sessionAt(of, session));
    return session;
  }
  afterAll(async () => {
    for (const path of registered) await call('DELETE', `${path}?memory=forget`);
  });

  const post = (of: string, body: unknown, headers = json) =>
    call('POST', `/v1/agents/${of}/runs`, {
      body: typeof body === 'string' ? body : JSON.stringify(body),
      headers,
    });
  const start = (of: string, action: string, sessions: readonly string[]) =>
    vi.waitFor(async () => {
      const answer = await post(of, { action, sessions });
      expect(answer.status).toBe(202);
      const { runId } = answer.json() as { runId: string };
      const location = `/v1/agents/${of}/runs/${runId}`;
      expect(answer.headers.location).toBe(location);
      expect(((await call('GET', location)).json() as Run).status).not.toBe('skipped');
      return runId;
    }, patience);
  const ended = (of: string, runId: string) =>
    vi.waitFor(async () => {
      const run = (await call('GET', `/v1/agents/${of}/runs/${runId}`)).json() as Run;
      expect(run.status).not.toBe('running');
      return run;
    }, patience);
  const runOver = async (of: string, action: string, sessions: readonly string[]) =>
    ended(of, await start(of, action, sessions));
  const pagesOf = async <Item>(path: string, limit: number): Promise<Item[][]> => {
    const pages: Item[][] = [];
    let cursor: string | undefined = '';
    while (cursor !== undefined) {
      const next: string = `limit=${limit}${cursor && `&cursor=${cursor}`}`;
      const page = (
        await call('GET', `${path}${path.includes('?') ? '&' : '?'}${next}`)
      ).json() as Page<Item>;
      pages.push(page.items);
      cursor = page.cursor;
    }
    return pages;
  };
  const jobsAt = (of: string, runId: string) => `/v1/agents/${of}/runs/${runId}/jobs`;

  httpCase(
    'a run visits each session once and completes with exact totals',
    async () => {
      const names = Array.from({ length: 40 }, (_, index) => `visit-${index}`);
      const sessions: string[] = [];
      // One by one: forty cold starts at once may take so long that a call is sent again, and finds its session there.
      for (const name of names) sessions.push(await register('probe', name));
      const asked = [...sessions, sessions[0] as string, `${unique}-nobody`];

      const run = await runOver('probe', 'visit', asked);

      expect(run).toEqual({
        ...{ runId: run.runId, agent: 'probe', action: 'visit', trigger: 'request', status: 'completed' },
        ...{ startedAt: expect.stringMatching(isoTime), finishedAt: expect.stringMatching(isoTime) },
        ...{ sessions: 40, ok: 40, failed: 0 },
      });
      for (const limit of [7, 40, 1000]) {
        const pages = await pagesOf<Job>(jobsAt('probe', run.runId), limit);
        expect(pages.slice(0, -1).every((page) => page.length === limit)).toBe(true);
        const jobs = pages.flat().sort((a, b) => (a.sessionId < b.sessionId ? -1 : 1));
        expect(jobs).toEqual(
          [...sessions].sort().map((sessionId) => ({
            ...{ sessionId, action: 'visit', ok: true },
            ...{ result: { seen: sessionId }, error: null },
          })),
        );
      }
    },
    caseMs,
  );

  httpCase(
    'an action wakes the instance of a session where callers have it, changes it and saves it',
    async () => {
      const session = await register('probe', 'wake');
      const instance = `/v1/agents/probe/instances/${session}`;
      const saved = await call('PUT', instance, { body: '{"wakes":41}', headers: json });
      expect(saved.status).toBe(201);

      const run = await runOver('probe', 'wake', [session]);

      expect(run).toMatchObject({ status: 'completed', ok: 1, failed: 0 });
      const [jobs] = await pagesOf<Job>(jobsAt('probe', run.runId), 10);
      expect(jobs).toMatchObject([{ ok: true, result: { version: 2, agent: { wakes: 42 } } }]);
      const woken = await call('GET', instance);
      expect([woken.status, woken.json()]).toEqual([200, { wakes: 42 }]);
      expect(woken.headers.etag).not.toBe(saved.headers.etag);
      expect((await call('GET', `${instance}-grown`)).status).toBe(404);
      expect((await call('DELETE', instance)).status).toBe(204);
    },
    caseMs,
  );

  httpCase(
    'whatever a session does, the others have their turn, and each failure is in the error log',
    async () => {
      const behaviours = {
        ...{ throw: ['thrown', 'stumbled'], 'reject-undefined': ['thrown', 'a thrown undefined'] },
        ...{ long: ['thrown', 'x'.repeat(500)], hang: ['timed_out', 'the handler took longer than 2 s'] },
        ...{ failed: ['failed', 'nobody listens'], cancelled: ['cancelled', 'paused by its user'] },
      };
      const wrong = new Map<string, string[]>();
      for (const [behaviour, outcome] of Object.entries(behaviours))
        wrong.set(await register('probe', behaviour, { behaviour }), outcome);
      const fine = [await register('probe', 'fine'), await register('probe', 'fine-too')];

      const run = await runOver('probe', 'stumble', [...wrong.keys(), ...fine]);

      expect(run).toMatchObject({ status: 'completed', sessions: 8, ok: 2, failed: 6 });
      const [failed = [], ...more] = await pagesOf<Job>(`${jobsAt('probe', run.runId)}?ok=false`, 50);
      expect(more).toEqual([]);
      expect(
        new Map(failed.map(({ sessionId, error }) => [sessionId, [error?.kind, error?.reason]])),
      ).toEqual(wrong);
      expect(failed.every(({ ok, result }) => !ok && result === null)).toBe(true);
      const succeeded = (await pagesOf<Job>(`${jobsAt('probe', run.runId)}?ok=true`, 1)).flat();
      expect(succeeded.map(({ sessionId }) => sessionId).sort()).toEqual(fine);
      expect(succeeded.map(({ result }) => result)).toEqual([null, null]);

      const errors = (await call('GET', '/v1/agents/probe/errors?limit=1000')).json() as Page<{
        runId: string;
        sessionId: string;
        where: string;
        msg: string;
      }>;
      const ours = errors.items.filter(({ runId }) => runId === run.runId);
      expect(ours.map(({ sessionId }) => sessionId).sort()).toEqual([...wrong.keys()].sort());
      for (const { where, msg, sessionId } of ours) {
        expect(where).toBe('stumble');
        expect(msg).toContain(wrong.get(sessionId)?.[1]);
        expect(msg.length).toBeLessThanOrEqual(2_000);
      }
    },
    caseMs,
  );

  httpCase(
    'runs are listed newest first, by action, in pages that go on where the last one ended',
    async () => {
      const session = await register('probe', 'listed');
      const first = await runOver('probe', 'visit', [session]);
      const second = await runOver('probe', 'stumble', [session]);
      const third = await runOver('probe', 'visit', [session]);
      const ours = [third, second, first].map(({ runId }) => runId);

      /** The pages up to the first run of ours: a deployment may have many. */
      const listed = async (query: string) => {
        const found: Run[] = [];
        for (let cursor = ''; !found.some(({ runId }) => runId === first.runId); ) {
          const path = `/v1/agents/probe/runs?limit=1${query}${cursor && `&cursor=${cursor}`}`;
          const page = (await call('GET', path)).json() as Page<Run>;
          expect(page.items).toHaveLength(1);
          found.push(...page.items);
          cursor = page.cursor ?? '';
        }
        return found;
      };
      const all = await listed('');
      expect(all.map(({ runId }) => runId).filter((runId) => ours.includes(runId))).toEqual(ours);
      const visits = await listed('&action=visit');
      expect(new Set(visits.map(({ action }) => action))).toEqual(new Set(['visit']));
      const found = visits.map(({ runId }) => runId).filter((runId) => ours.includes(runId));
      expect(found).toEqual([third.runId, first.runId]);
    },
    caseMs,
  );

  httpCase(
    'prune-raw-memory is an action of every agent: what is over its retention goes, and is counted',
    async () => {
      const session = await register('support', 'prune');
      const spared = await register('support', 'not-asked-for');
      const ann = { sender: { id: 'ann' }, content: 'hi' };
      const remember = async (of: string, messages: readonly object[]) => {
        const path = `${sessionAt('support', of)}/messages`;
        const answer = await call('POST', path, { body: JSON.stringify(messages), headers: json });
        expect(answer.status).toBe(201);
      };
      const listed = async (of: string) => {
        const page = (await call('GET', `${sessionAt('support', of)}/messages`)).json() as Page<{
          id: string;
        }>;
        return page.items.map(({ id }) => id);
      };
      await remember(session, [{ id: 'm0', ...ann }]);
      await remember(spared, [{ id: 'm0', ...ann }]);
      // What the policy has removed by now is refused: these are over it in a moment.
      const old = Date.now() - 30 * 86_400_000 + 5_000;
      for (const of of [session, spared]) {
        await remember(of, [
          ...[0, 1, 2].map((place) => ({ id: `old${place}`, timestamp: old + place, ...ann })),
          { id: 'm20', timestamp: Date.now() - 20 * 86_400_000, ...ann },
        ]);
      }
      await vi.waitFor(async () => expect(await listed(spared)).toEqual(['m20', 'm0']), patience);
      const prune = async (sessions: string[]) => {
        const { runId } = await runOver('support', 'prune-raw-memory', sessions);
        const jobs = (await pagesOf<Job>(jobsAt('support', runId), 50)).flat();
        return jobs.map(({ sessionId, result }) => [sessionId, result]);
      };

      expect(await prune([session])).toEqual([[session, 3]]);
      expect(await prune([session])).toEqual([[session, 0]]);
      expect(await prune([spared])).toEqual([[spared, 3]]);

      expect(await listed(session)).toEqual(['m20', 'm0']);
    },
    caseMs,
  );

  httpCase('what is not the start of a run is refused, and starts none', async () => {
    const runsOf = async () => (await call('GET', `/v1/agents/${unique}/runs`)).json();
    for (const [body, code] of [
      [{}, 'invalid_input'],
      [{ action: '' }, 'invalid_input'],
      [{ action: 7 }, 'invalid_input'],
      [{ action: 'visit', session: 'x' }, 'invalid_request'],
      [[], 'invalid_request'],
      ['', 'invalid_request'],
      ['{"action":', 'invalid_json'],
      [{ action: 'visit', sessions: [] }, 'invalid_input'],
      [{ action: 'visit', sessions: 'x' }, 'invalid_input'],
      [{ action: 'visit', sessions: [1] }, 'invalid_input'],
      [{ action: 'visit', sessions: [''] }, 'invalid_input'],
      [
        { action: 'visit', sessions: Array.from({ length: 101 }, (_, index) => `s${index}`) },
        'invalid_input',
      ],
      [{ action: 'nap' }, 'unknown_action'],
      [{ action: 'toString' }, 'unknown_action'],
    ] as const) {
      const refused = await post('probe', body);
      expect([refused.status, (refused.json() as { code: string }).code, body]).toEqual([400, code, body]);
    }
    expect((await post('probe', 'visit', { 'content-type': 'text/plain' })).status).toBe(415);
    const undefinedAgent = await post(unique, { action: 'visit' });
    expect([undefinedAgent.status, undefinedAgent.json()]).toMatchObject([400, { code: 'unknown_action' }]);
    expect(await runsOf()).toEqual({ items: [] });
  });

  httpCase(
    'a run that is not there, or a list that cannot be, is said to be so',
    async () => {
      const session = await register('probe', 'not-there');
      const { runId } = await runOver('probe', 'visit', [session]);
      const unknown = `20270101T000000000Z-${'0'.repeat(24)}`;
      for (const path of [
        `/v1/agents/probe/runs/${unknown}`,
        '/v1/agents/probe/runs/nonsense',
        `/v1/agents/support/runs/${runId}`,
        `/v1/agents/probe/runs/${unknown}/jobs`,
        `/v1/agents/support/runs/${runId}/jobs`,
      ]) {
        const missing = await call('GET', path);
        expect([missing.status, missing.json(), path]).toMatchObject([404, { code: 'run_not_found' }, path]);
      }
      const page = (await call('GET', '/v1/agents/probe/runs?limit=1')).json() as Page<Run>;
      for (const path of [
        '/v1/agents/probe/runs?limit=0',
        '/v1/agents/probe/runs?action=',
        '/v1/agents/probe/runs?cursor=nonsense',
        ...(page.cursor ? [`/v1/agents/probe/runs?action=visit&cursor=${page.cursor}`] : []),
        ...(page.cursor ? [`${jobsAt('probe', runId)}?cursor=${page.cursor}`] : []),
        `${jobsAt('probe', runId)}?ok=yes`,
        `${jobsAt('probe', runId)}?limit=1001`,
      ])
        expect([(await call('GET', path)).status, path]).toEqual([400, path]);
      expect((await call('DELETE', `/v1/agents/probe/runs/${runId}`)).status).toBe(405);
    },
    caseMs,
  );

  httpCase(
    'schedules are listed with what EventBridge is given, a reading, and when they are due',
    async () => {
      interface Schedule {
        name: string;
        agent: string;
        next: string[];
      }
      const { items } = (await call('GET', '/v1/schedules')).json() as Page<Schedule>;
      const byName = new Map(items.filter(({ agent }) => agent === 'probe').map((item) => [item.name, item]));
      const next = Array(3).fill(expect.stringMatching(isoTime));

      expect([...byName.keys()].sort()).toEqual([
        ...['every-minute', 'every-minute-in-paris', 'once-a-year', 'payday'],
      ]);
      expect(byName.get('every-minute')).toEqual({
        ...{ name: 'every-minute', agent: 'probe', action: 'tick-rule', cron: '* * * * *', next },
        ...{ expressions: ['cron(* * * * ? *)'], description: 'Every minute (UTC)' },
      });
      expect(byName.get('every-minute-in-paris')).toMatchObject({
        ...{ action: 'tick-schedule', timezone: 'Europe/Paris', description: 'Every minute (Europe/Paris)' },
      });
      expect(byName.get('payday')).toMatchObject({
        expressions: ['cron(0 9 1,15 * ? *)', 'cron(0 9 ? * 2 *)'],
        description: expect.stringContaining('Monday'),
        next,
      });
      for (const { next } of byName.values()) {
        expect([...next].sort()).toEqual(next);
        expect(new Set(next).size).toBe(3);
        expect(Date.parse(next[0] as string)).toBeGreaterThan(Date.now() - 120_000);
      }
      const [minute = '', following = ''] = byName.get('every-minute')?.next ?? [];
      expect(Date.parse(following) - Date.parse(minute)).toBe(60_000);
      expect(byName.get('once-a-year')?.next.every((time) => time.endsWith('-01-01T00:00:00.000Z'))).toBe(
        true,
      );
    },
  );

  httpCase('agents are listed with their actions, and the API describes the routes of runs', async () => {
    const agents = (await call('GET', '/v1/agents')).json() as Page<{ name: string; actions: string[] }>;
    const probe = agents.items.find(({ name }) => name === 'probe');
    const actions = ['visit', 'stumble', 'wake', 'tick-rule', 'tick-schedule', 'prune-raw-memory'];
    expect([...(probe?.actions ?? [])].sort()).toEqual(actions.sort());

    const { paths } = (await call('GET', '/v1/openapi.json')).json() as { paths: Record<string, object> };
    const methodsOf = (path: string) => Object.keys(paths[path] ?? {}).sort();
    expect(methodsOf('/v1/agents/{agent}/runs')).toEqual(['get', 'post']);
    expect(methodsOf('/v1/agents/{agent}/runs/{run}')).toEqual(['get']);
    expect(methodsOf('/v1/agents/{agent}/runs/{run}/jobs')).toEqual(['get']);
    expect(methodsOf('/v1/schedules')).toEqual(['get']);
  });
});
