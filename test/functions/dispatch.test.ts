import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { handler as dispatch } from '../../functions/lifecycle/dispatch.ts';
import { type Services, useServices } from '../../functions/services.ts';
import { scopeOf, tenantsOf } from '../../functions/tenancy.ts';
import { removeIfEmpty, scopesOf } from '../../functions/tenants.ts';
import { defineAgent } from '../../lib/agents/define-agent.ts';
import { sessionShards } from '../../lib/defaults.ts';
import { CorruptError, UnavailableError } from '../../lib/errors.ts';
import { scheduleDescriptor } from '../../lib/schedules/schedule-descriptor.ts';
import { capturedLog } from '../support/captured-log.ts';
import { handlerOf } from '../support/handler-of.ts';
import { httpEvent } from '../support/http-event.ts';
import {
  failing,
  type LifecycleFunctions,
  lambdaContext,
  lifecycleFunctions,
} from '../support/lifecycle-functions.ts';

const registerSession = handlerOf('register-session');

const visits = new Map<string, number>();
const support = defineAgent({
  name: 'support',
  actions: {
    digest: async ({ id }, { runtime }) => {
      const visit = `${runtime.agent} ${id}`;
      visits.set(visit, (visits.get(visit) ?? 0) + 1);
    },
  },
  schedules: [
    // On Mondays and on the 1st and the 15th: two rules.
    scheduleDescriptor('payday', '0 9 1,15 * MON', 'digest'),
    scheduleDescriptor('often', ' rate(1 minute)', 'digest'),
  ],
});
const payday = {
  ...{ agent: 'support', action: 'digest', schedule: 'payday' },
  time: '2027-02-01T09:00:00Z',
};
const later = { ...payday, time: '2027-02-08T09:00:00Z' };
const away = new UnavailableError('the table is away', { retryable: false });

let functions: LifecycleFunctions;
let lines: string[];

beforeEach(async () => {
  visits.clear();
  lines = capturedLog();
  // The pauses of the engine, which are by chance.
  vi.spyOn(Math, 'random').mockReturnValue(0);
  functions = lifecycleFunctions([support]);
  await functions.register(10);
});
afterEach(() => {
  vi.restoreAllMocks();
});

const runsOf = async (agent = 'support') => (await functions.runs.list({ agent, limit: 99 })).items;
const give = (changes: Partial<Services>) => useServices({ ...functions.services, ...changes });
const giveFailing = (methods: readonly string[], error: unknown = away, more: Partial<Services> = {}) => {
  const { runs, leases, queue } = functions;
  const lifecycle = {
    ...{ runs: failing(runs, error, methods), leases: failing(leases, error, methods) },
    queue: failing(queue, error, methods),
  };
  give({ lifecycle, ...more });
};
const logged = () => lines.map((line) => JSON.parse(line) as Record<string, unknown>);

describe('a tick', () => {
  test('starts a run over every session, and says so', async () => {
    expect(await dispatch(payday, lambdaContext())).toEqual({ started: 1, duplicate: 0, skipped: 0 });
    await functions.drain();

    const [run] = await runsOf();
    expect(run).toMatchObject({
      ...{ status: 'completed', trigger: 'schedule', schedule: 'payday', action: 'digest' },
      ...{ sessions: 10, ok: 10, failed: 0 },
    });
    expect(logged()).toContainEqual(
      expect.objectContaining({
        ...{ message: 'tick', agent: 'support', action: 'digest', schedule: 'payday' },
        ...{ at: '2027-02-01T09:00:00.000Z', runId: run?.runId, status: 'started' },
      }),
    );
  });

  test('that comes again, during its run or after it, starts nothing', async () => {
    await dispatch(payday);
    const during = await dispatch(payday);
    await functions.drain();
    const after = await dispatch({ ...payday, id: 'another id of the event' });
    await functions.drain();

    expect([during, after]).toEqual(Array(2).fill({ started: 0, duplicate: 1, skipped: 0 }));
    expect([...visits.values()]).toEqual(Array(10).fill(1));
    expect(await runsOf()).toHaveLength(1);
  });

  test('that comes five times at once starts one run, and each session is visited once', async () => {
    const outcomes = await Promise.all(Array.from({ length: 5 }, () => dispatch(payday)));
    await functions.drain(20);

    expect(outcomes.map(({ started }) => started).sort()).toEqual([0, 0, 0, 0, 1]);
    expect(outcomes.every(({ skipped }) => skipped === 0)).toBe(true);
    expect([...visits.values()]).toEqual(Array(10).fill(1));
    expect(await runsOf()).toMatchObject([{ status: 'completed', sessions: 10 }]);
  });

  test('of both rules of a schedule is one tick, some seconds apart or in another offset', async () => {
    await dispatch(payday);
    await dispatch({ ...payday, time: '2027-02-01T09:00:41Z' });
    await dispatch({ ...payday, time: '2027-02-01T10:00:07.500+01:00' });
    await functions.drain();

    expect([...visits.values()]).toEqual(Array(10).fill(1));
    expect(await runsOf()).toHaveLength(1);
  });

  test('of a rate keeps its seconds', async () => {
    give({ overlap: 'allow' });
    const often = { ...payday, schedule: 'often' };

    const first = await dispatch({ ...often, time: '2027-02-01T09:00:05Z' });
    const again = await dispatch({ ...often, time: '2027-02-01T09:00:05Z' });
    const next = await dispatch({ ...often, time: '2027-02-01T09:00:59Z' });

    expect([first, again, next].map(({ started }) => started)).toEqual([1, 0, 1]);
  });

  test('while the run before is going is skipped and noted, once; afterwards the next one runs', async () => {
    await dispatch(payday);
    const skipped = await dispatch(later);
    const again = await dispatch(later);
    await functions.drain();
    const third = await dispatch({ ...payday, time: '2027-02-15T09:00:00Z' });

    expect(skipped).toEqual({ started: 0, duplicate: 0, skipped: 1 });
    expect(again).toEqual({ started: 0, duplicate: 1, skipped: 0 });
    expect(third.started).toBe(1);
    expect([...visits.values()]).toEqual(Array(10).fill(1));
    expect((await runsOf()).map(({ status }) => status)).toEqual(['running', 'skipped', 'completed']);
  });

  test('while the run before is going runs beside it where overlap is allowed', async () => {
    give({ overlap: 'allow' });

    await dispatch(payday);
    expect((await dispatch(later)).started).toBe(1);
    await functions.drain(8);

    expect([...visits.values()]).toEqual(Array(10).fill(2));
    expect((await runsOf()).map(({ status }) => status)).toEqual(['completed', 'completed']);
  });
});

describe('a tick that fails', () => {
  test.each(['create', 'acquire', 'admit', 'send', 'markDispatched'])(
    'at %s rejects, is logged, and is repaired when it comes again',
    async (step) => {
      giveFailing([step]);
      await expect(dispatch(payday)).rejects.toThrow('1 runs were not started');
      expect(logged()).toContainEqual(
        expect.objectContaining({
          ...{ level: 'ERROR', message: 'a run was not started', code: 'unavailable' },
          ...{ agent: 'support', schedule: 'payday' },
        }),
      );

      give({});
      await dispatch(payday);
      await functions.drain();

      expect([...visits.values()]).toEqual(Array(10).fill(1));
      expect(await runsOf()).toMatchObject([{ status: 'completed', sessions: 10 }]);
    },
  );

  test('over what is damaged is logged under the code that alarms look for', async () => {
    giveFailing(['create'], new CorruptError('the run item is not one of ours'));

    await expect(dispatch(payday)).rejects.toThrow();

    expect(logged().filter(({ code }) => code === 'corrupt')).toHaveLength(1);
  });

  test.each([
    ['an action', { ...payday, action: 'gone' }],
    ['an agent', { ...payday, agent: 'gone' }],
    ['an action that every object has', { ...payday, action: 'toString' }],
  ])('for %s that is gone rejects, so that it is not lost silently', async (_what, event) => {
    for (const tenantClaim of [undefined, 'org']) {
      give({ tenantClaim });

      await expect(dispatch(event)).rejects.toMatchObject({ code: 'unknown_action' });
    }
    expect(logged().filter(({ message }) => message === 'a tick failed')).toMatchObject(
      Array(2).fill({ level: 'ERROR', code: 'unknown_action' }),
    );
    expect(functions.queue.waiting).toBe(0);
  });

  test.each([
    ['agent', undefined],
    ['agent', null],
    ['agent', 'a text'],
    ['agent', {}],
    ['agent', { ...payday, agent: '' }],
    ['agent', { ...payday, agent: 7 }],
    ['action', { ...payday, action: undefined }],
    ['schedule', { ...payday, schedule: ['payday'] }],
    ['time', { ...payday, time: undefined }],
    ['time', { ...payday, time: '' }],
    ['time', { ...payday, time: Date.parse(payday.time) }],
    ['time', { ...payday, time: 'yesterday' }],
    ['time', { ...payday, time: '1' }],
    ['time', { ...payday, time: '2027-02-01T09:00:00' }],
    ['time', { ...payday, time: '2027-02-30T09:00:00Z' }],
    ['time', { ...payday, time: '<aws.scheduler.scheduled-time>' }],
  ])('because its %s is not one says so: %o', async (field, event) => {
    await expect(dispatch(event)).rejects.toMatchObject({ code: 'invalid_input', field });
    expect(await runsOf()).toEqual([]);
  });
});

describe('a tick with tenants', () => {
  beforeEach(() => give({ tenantClaim: 'org' }));

  const register = async (org: string, more: Parameters<typeof httpEvent>[0] = {}, session = 's1') => {
    const event = httpEvent({ method: 'PUT', agent: 'support', claims: { org }, ...more });
    const answer = await registerSession({ ...event, pathParameters: { agent: 'support', session } });
    return answer.statusCode;
  };
  const scopes = async () => {
    const found: string[] = [];
    for await (const scope of scopesOf('support', { ...functions.services, tenantClaim: 'org' }))
      found.push(scope);
    return found.sort();
  };
  const odd = 'b/c|1%?';
  const orgs = ['ann@example.com', odd, 'org~support', 'tenants'];

  test('starts a run for each that has registered a session', async () => {
    for (const org of orgs) expect(await register(org)).toBe(201);
    await register(odd, {}, 's2');

    expect(await dispatch(payday)).toEqual({ started: 4, duplicate: 0, skipped: 0 });
    expect(await dispatch(payday)).toEqual({ started: 0, duplicate: 4, skipped: 0 });
    await functions.drain();

    for (const org of orgs)
      expect(await runsOf(scopeOf(org, 'support'))).toMatchObject([
        { status: 'completed', sessions: org === odd ? 2 : 1, failed: 0 },
      ]);
    // The sessions that were there without tenants are nobody's.
    expect([...visits.values()]).toEqual(Array(5).fill(1));
    expect(await runsOf()).toEqual([]);
  });

  test('costs nothing for a tenant whose sessions are gone, until it comes back', async () => {
    for (const org of orgs) await register(org);
    for (const org of orgs.slice(1))
      await functions.stores.sessions.deregister(scopeOf(org, 'support'), 's1');

    expect(await dispatch(payday)).toEqual({ started: 1, duplicate: 0, skipped: 0 });

    expect(await scopes()).toEqual([scopeOf('ann@example.com', 'support')]);
    expect(await runsOf(scopeOf(odd, 'support'))).toEqual([]);
    expect(await register(odd)).toBe(201);
    expect((await scopes()).length).toBe(2);
  });

  test('that removes a tenant while it registers a session, at any moment, does not lose it', async () => {
    const { sessions } = functions.stores;
    const [tenants, scope] = [tenantsOf('support'), scopeOf('org', 'support')];
    const writes: Parameters<typeof sessions.register>[] = [];
    const recorded: typeof sessions.register = async (...args) => {
      writes.push(args);
      const [, { id, meta, at }] = args;
      return { session: { id, meta, registeredAt: at, lastActiveAt: at }, created: true };
    };
    const recording = { ...functions.stores, sessions: { ...sessions, register: recorded } };
    give({ tenantClaim: 'org', stores: recording });
    expect(await register('org')).toBe(201);
    expect(writes.map(([agent]) => agent)).toEqual([tenants, scope, tenants]);

    // The removal reads sixteen shards and deletes: each write of the registration comes before any of these, or after.
    const moments = Array.from({ length: sessionShards + 2 }, (_, moment) => moment);
    let removed = 0;
    for (const first of moments)
      for (const second of moments.slice(first))
        for (const third of moments.slice(second)) {
          await sessions.deregister(scope, 's1');
          const registered = { id: 'org', meta: { mark: 'old' }, at: new Date(0) };
          const seen = await sessions.register(tenants, registered);
          let moment = 0;
          const registrations = async () => {
            for (const [write, due] of [first, second, third].entries()) {
              const args = writes[write];
              if (due === moment && args !== undefined) await sessions.register(...args);
            }
            moment++;
          };
          const interleaved: typeof sessions = {
            ...sessions,
            listShard: async (query) => {
              await registrations();
              return sessions.listShard(query);
            },
            deregister: async (...args) => {
              await registrations();
              const gone = await sessions.deregister(...args);
              if (gone) removed++;
              return gone;
            },
          };
          const services = { ...functions.services, tenantClaim: 'org' };
          const tenant = first === 0 ? (await sessions.register(...at(writes, 0))).session : seen.session;

          await removeIfEmpty(
            'support',
            { scope, tenant },
            { ...services, stores: { ...functions.stores, sessions: interleaved } },
          );
          while (moment < moments.length) await registrations();

          expect(await sessions.get(tenants, 'org')).toBeDefined();
        }
    // Where it had looked before, and nothing was registered until it had removed: the registration brings the tenant back.
    expect(removed).toBeGreaterThan(1);
  });

  test('does nothing, and is no failure, where no tenant has a session', async () => {
    expect(await dispatch(payday)).toEqual({ started: 0, duplicate: 0, skipped: 0 });
  });

  test('that fails for one starts the runs of the others, rejects, and is repaired when it comes again', async () => {
    for (const org of orgs) await register(org);
    const { runs, leases, queue } = functions;
    const create: typeof runs.create = (run) =>
      run.agent === scopeOf(odd, 'support') ? Promise.reject(away) : runs.create(run);
    give({ tenantClaim: 'org', lifecycle: { runs: { ...runs, create }, leases, queue } });

    await expect(dispatch(payday)).rejects.toThrow('1 runs were not started');
    await functions.drain();
    expect(visits.size).toBe(3);

    give({ tenantClaim: 'org' });
    expect(await dispatch(payday)).toEqual({ started: 1, duplicate: 3, skipped: 0 });
    await functions.drain();
    expect([...visits.values()]).toEqual(Array(4).fill(1));
  });

  test('that cannot list them rejects', async () => {
    const sessions = failing(functions.stores.sessions, away);
    give({ tenantClaim: 'org', stores: { ...functions.stores, sessions } });

    await expect(dispatch(payday)).rejects.toMatchObject({ code: 'unavailable' });
  });

  test('finds a tenant whose first session was only just being registered', async () => {
    const order: string[] = [];
    const { sessions } = functions.stores;
    const noting: typeof sessions = {
      ...sessions,
      register: (agent, session) => {
        order.push(`${agent} ${session.id}`);
        return sessions.register(agent, session);
      },
    };
    give({ tenantClaim: 'org', stores: { ...functions.stores, sessions: noting } });

    await register('acme');

    expect(order).toEqual(['~tenants~support acme', 'acme~support s1', '~tenants~support acme']);
  });

  test('knows of no tenant whose request was refused', async () => {
    expect(await register('acme', {}, '')).toBe(400);
    expect(await register('acme', { body: '[]', headers: { 'content-type': 'application/json' } })).toBe(400);

    expect(await scopes()).toEqual([]);
  });

  test('logs of them nothing but hashes', async () => {
    for (const org of orgs) await register(org, {}, 'session-of-ann');
    await dispatch(payday);
    await functions.drain();
    giveFailing(['create'], away, { tenantClaim: 'org' });
    await expect(dispatch(later)).rejects.toThrow('4 runs were not started');
    await expect(dispatch({ ...payday, action: 'gone' })).rejects.toThrow('gone');

    expect(logged().find(({ message }) => message === 'tick')).toMatchObject({
      ...{ agent: 'support', tenantHash: expect.stringMatching(/^[0-9a-f]{16}$/) },
    });
    expect(lines.join()).toContain('the run is complete');
    for (const name of ['ann@', odd, 'b%2Fc', 'session-of-ann', '~support'])
      expect(lines.join()).not.toContain(name);
  });
});

function at<T>(list: readonly T[], index: number): T {
  const item = list[index];
  if (item === undefined) throw new Error(`there is no ${index}th`);
  return item;
}
