import { beforeEach, describe, expect, test } from 'vitest';
import { CorruptError } from '../../../lib/errors.ts';
import {
  type AgentRuntime,
  agentHandles,
  cancelled,
  compactStaleSessions,
  createRuntime,
  defineAgent,
  ErrorLogUnavailableError,
  eachSessionJob,
  failed,
  inMemoryStores,
  jobError,
  jobOk,
  type LifecycleJob,
  memoryStore,
  orThrow,
  type RuntimeStores,
  runSessionJob,
  type Session,
  type SessionJobContext,
  type SessionJobHandler,
  thaw,
} from '../../../lib/index.ts';
import { gate } from '../../support/gate.ts';
import { testClock } from '../../support/test-clock.ts';

const clock = testClock();
let stores: RuntimeStores;
let runtime: AgentRuntime;

beforeEach(() => {
  stores = inMemoryStores({ clock: clock.now });
  runtime = runtimeOver(stores);
});

const runtimeOver = (over: RuntimeStores) =>
  createRuntime('support', { stores: over, clock: clock.now, newId: () => 'run-1' });
const register = async (...ids: string[]) => {
  for (const id of ids) await runtime.registerSession(id);
};
const sessionsNamed = (...ids: string[]): Session[] =>
  ids.map((id) => ({ id, meta: {}, registeredAt: clock.now(), lastActiveAt: clock.now() }));
const byId = (jobs: readonly LifecycleJob[]) => new Map(jobs.map((job) => [job.sessionId, job]));

test('a handler with nothing to do makes one job per session, in the order of the sessions', async () => {
  const ids = Array.from({ length: 50 }, (_, index) => `s${index}`);
  await register(...ids);
  const listed: string[] = [];
  for await (const { id } of runtime.listRegisteredSessions()) listed.push(id);

  const jobs = await runSessionJob(runtime, 'noop', () => undefined);

  expect(jobs).toEqual(
    listed.map((sessionId) => ({ sessionId, action: 'noop', ok: true, result: null, error: null })),
  );
  expect([...listed].sort()).toEqual([...ids].sort());
});

test('jobs stay in order although later sessions finish first', async () => {
  const sessions = sessionsNamed('a', 'b', 'c', 'd');
  const finished: string[] = [];
  const others = gate();

  const jobs = await runSessionJob(
    runtime,
    'x',
    async ({ id }) => {
      if (id === 'a') await others.promise;
      finished.push(id);
      if (id === 'd') others.open();
      return id;
    },
    { sessions },
  );

  expect(finished).toEqual(['b', 'c', 'd', 'a']);
  expect(jobs.map(({ result }) => result)).toEqual(['a', 'b', 'c', 'd']);
});

test('no more sessions are under way at a time than asked for', async () => {
  let underWay = 0;
  let most = 0;
  const handler = async () => {
    most = Math.max(most, ++underWay);
    await new Promise((resolve) => setImmediate(resolve));
    underWay--;
  };

  await runSessionJob(runtime, 'x', handler, {
    sessions: sessionsNamed(...Array.from({ length: 30 }, (_, index) => `${index}`)),
    concurrency: 3,
  });

  expect(most).toBe(3);
});

test('sessions are read as they are needed, not all at once', async () => {
  let read = 0;
  const many = async function* () {
    for (; read < 100_000; read++) yield* sessionsNamed(`s${read}`);
  };
  const jobs = eachSessionJob(runtime, 'x', () => undefined, { sessions: many(), concurrency: 2 });

  for (let index = 0; index < 5; index++) await jobs.next();

  expect(read).toBeLessThan(60);
  await jobs.return();
});

test('whatever one session does, the others have their turn, and each failure is in the error log', async () => {
  const handlers: Record<string, SessionJobHandler> = {
    s1: () => undefined,
    s2: () => {
      throw new Error('boom');
    },
    s3: () => Promise.reject(undefined),
    s4: () => {
      throw 'x'.repeat(600_000);
    },
    s5: () => 'done',
    s6: async () => failed('no model'),
    s7: () => {
      throw cancelled('user left');
    },
    s8: () => new Promise(() => {}),
    s9: () => ({ status: 'error', error: new CorruptError('unreadable') }),
    s10: () => Object.assign(new Error(), { message: { not: 'text' } }),
    s11: () => ({ status: 'ok', etag: 'e' }),
  };
  await register(...Object.keys(handlers));
  const run = () =>
    runSessionJob(runtime, 'digest', (session, context) => handlers[session.id]?.(session, context), {
      timeoutSecs: 0.05,
    });

  const jobs = byId(await run());

  expect([...jobs.values()].map(({ ok }) => ok).filter(Boolean)).toHaveLength(3);
  expect(jobs.get('s5')).toEqual(jobOk('s5', 'digest', 'done'));
  const errors = Object.fromEntries(
    [...jobs].map(([id, { error }]) => [id, error && [error.kind, error.reason]]),
  );
  expect(errors).toEqual({
    s1: null,
    s2: ['thrown', 'boom'],
    s3: ['thrown', 'a thrown undefined'],
    s4: ['thrown', 'x'.repeat(500)],
    s5: null,
    s6: ['failed', 'no model'],
    s7: ['cancelled', 'user left'],
    s8: ['timed_out', 'the handler took longer than 0.05 s'],
    s9: ['thrown', 'unreadable'],
    s10: ['thrown', 'Error'],
    s11: null,
  });
  const { items } = await runtime.listErrors();
  expect(items.map(({ sessionId }) => sessionId).sort()).toEqual([
    's10',
    's2',
    's3',
    's4',
    's6',
    's7',
    's8',
    's9',
  ]);
  for (const item of items) expect(item).toMatchObject({ where: 'digest', runId: 'run-1' });
  const logged = new Map(items.map((item) => [item.sessionId, item]));
  expect(logged.get('s2')).toMatchObject({ msg: 'boom', stack: expect.stringContaining('boom') });
  expect(logged.get('s7')).toMatchObject({ msg: 'cancelled: user left' });
  expect(logged.get('s4')?.msg.length).toBe(2_000);

  expect(await run()).toHaveLength(11);
});

test('what cannot be read of a failure, nor sent as UTF-8, stops nobody and is in the error log', async () => {
  const revoked = Proxy.revocable({}, {});
  revoked.revoke();
  const handlers: Record<string, SessionJobHandler> = {
    // Whoever reads such an error's message or stack throws in turn.
    s1: () => Promise.reject(Object.assign(new Error('x'), { message: Object.create(null) })),
    s2: () => Promise.reject(Object.assign(new Error('x'), { message: Symbol('why') })),
    s3: () => Promise.reject(revoked.proxy),
    s4: () => ({ status: 'error', error: undefined }),
    s5: () => Promise.reject('half of a pair: \ud83d'),
    s6: () => Promise.reject(`x${'🔑'.repeat(400)}`),
    s7: () => 'done',
  };
  await register(...Object.keys(handlers));

  const jobs = byId(
    await runSessionJob(runtime, 'digest', (session, context) => handlers[session.id]?.(session, context)),
  );

  expect([...jobs.values()].filter(({ ok }) => ok)).toEqual([jobOk('s7', 'digest', 'done')]);
  expect(jobs.get('s1')?.error).toEqual({ kind: 'thrown', reason: 'Error' });
  expect(jobs.get('s2')?.error).toEqual({ kind: 'thrown', reason: 'Symbol(why)' });
  expect(jobs.get('s4')?.error).toEqual({ kind: 'thrown', reason: 'a thrown object' });
  expect([...jobs.values()].every(({ error }) => error?.reason.isWellFormed() ?? true)).toBe(true);
  const { items } = await runtime.listErrors();
  expect(items.map(({ sessionId }) => sessionId).sort()).toEqual(['s1', 's2', 's3', 's4', 's5', 's6']);
  expect(items.every(({ msg }) => msg.isWellFormed())).toBe(true);
});

test.each<[string, () => unknown, RegExp]>([
  ['a generator', () => (function* () {})(), /an iterator, of which nothing has run/],
  ['an async generator', () => (async function* () {})(), /an iterator, of which nothing has run/],
  ['an iterator of a list', () => [1, 2].values(), /an iterator/],
  ['a stream', () => new ReadableStream(), /an iterator/],
  ['a function', () => () => 'later', /a function, which nobody calls/],
  ['a class', () => class {}, /a function, which nobody calls/],
])(
  'a handler that returns %s has done nothing yet: its job fails and says so',
  async (_what, handler, reason) => {
    await register('s1');

    const [job] = await runSessionJob(runtime, 'x', handler);

    expect(job).toMatchObject({
      ok: false,
      error: { kind: 'failed', reason: expect.stringMatching(reason) },
    });
  },
);

test.each<[string, unknown]>([
  ['a generator', function* () {}],
  ['an async generator', async function* () {}],
  ['a class', class {}],
  ['nothing', undefined],
])('%s as a handler is refused before any session is visited', async (_what, handler) => {
  await register('s1');

  const run = runSessionJob(runtime, 'x', handler as SessionJobHandler);

  await expect(run).rejects.toMatchObject({ code: 'invalid_input', field: 'handler' });
});

test('a handler that changes the time of its run changes it for itself only', async () => {
  await register('s1', 's2', 's3');
  const seen: number[] = [];

  await runSessionJob(
    runtime,
    'x',
    (_session, { now }) => {
      seen.push(now.getTime());
      now.setUTCFullYear(1999);
    },
    { now: new Date(5_000) },
  );

  expect(seen).toEqual([5_000, 5_000, 5_000]);
});

test('a handler that changes its session changes neither its job nor its entry in the error log', async () => {
  await register('s1', 's2');

  const jobs = await runSessionJob(runtime, 'x', (session) => {
    const { id } = session;
    Object.assign(session, { id: 'zzz' });
    return id === 's1' ? failed('no') : 'done';
  });

  expect(jobs.map(({ sessionId }) => sessionId).sort()).toEqual(['s1', 's2']);
  expect((await runtime.listErrors()).items).toMatchObject([{ sessionId: 's1' }]);
});

test('a session that takes too long is told by its signal, and what it does later changes nothing', async () => {
  let signal: AbortSignal | undefined;
  let rejectLate: (error: Error) => void = () => {};
  const handler: SessionJobHandler = (_, context) => {
    signal = context.signal;
    return new Promise((_resolve, reject) => {
      rejectLate = reject;
    });
  };

  const [job] = await runSessionJob(runtime, 'x', handler, {
    sessions: sessionsNamed('a'),
    timeoutSecs: 0.02,
  });
  rejectLate(new Error('late'));
  await new Promise((resolve) => setImmediate(resolve));

  expect(job).toMatchObject({ ok: false, error: { kind: 'timed_out' } });
  expect(signal?.aborted).toBe(true);
  expect((await runtime.listErrors()).items).toHaveLength(1);
});

test('a signal that nobody asked for in time is the same to whoever asks later: aborted', async () => {
  let context: SessionJobContext | undefined;
  const handler: SessionJobHandler = (_, given) => {
    context = given;
    return new Promise(() => {});
  };

  await runSessionJob(runtime, 'x', handler, { sessions: sessionsNamed('a'), timeoutSecs: 0.02 });

  expect(context?.signal.reason).toMatchObject({ code: 'timed_out' });
  expect(context?.signal).toBe(context?.signal);
});

test('a copy of the context has everything, and its signal hears that the run is called off', async () => {
  const stop = new AbortController();
  const heard: boolean[] = [];
  const handler: SessionJobHandler = (session, context) => {
    const copy = { ...context };
    heard.push(copy.signal.aborted);
    stop.abort();
    heard.push(copy.signal.aborted);
    expect(copy.signal).toBe(context.signal);
    expect(copy.memory().scope.session).toBe(session.id);
    expect(Object.keys(copy).sort()).toEqual([
      'action',
      'agent',
      'idempotencyKey',
      'instance',
      'logger',
      'memory',
      'now',
      'runId',
      'runtime',
      'secret',
      'signal',
    ]);
  };

  const jobs = await runSessionJob(runtime, 'x', handler, {
    sessions: sessionsNamed('a'),
    signal: stop.signal,
  });

  expect(jobs).toMatchObject([{ ok: true }]);
  expect(heard).toEqual([false, true]);
});

test('a run that is called off begins no further session', async () => {
  const stop = new AbortController();

  const jobs = await runSessionJob(
    runtime,
    'x',
    ({ id }) => {
      if (id === 'b') stop.abort();
    },
    { sessions: sessionsNamed('a', 'b', 'c', 'd'), concurrency: 1, signal: stop.signal },
  );

  expect(jobs.map(({ sessionId }) => sessionId)).toEqual(['a', 'b']);
});

test('a run whose time is up begins no further session, those read ahead included, and lets the others end', async () => {
  const begun: string[] = [];
  let left = 2;

  const jobs = await runSessionJob(
    runtime,
    'x',
    async ({ id }) => {
      begun.push(id);
      await new Promise((resolve) => setImmediate(resolve));
      left = 0;
    },
    { sessions: sessionsNamed('a', 'b', 'c', 'd', 'e', 'f'), concurrency: 2, mayBegin: () => left > 0 },
  );

  expect(begun).toEqual(['a', 'b']);
  expect(jobs.map(({ sessionId, ok }) => [sessionId, ok])).toEqual([
    ['a', true],
    ['b', true],
  ]);
});

test('an error log that is away does not stop the run, and ends it loudly with all its jobs', async () => {
  await register('s1', 's2', 's3');
  const away = new Error('the table is away');
  const broken = { ...stores, errors: { ...stores.errors, record: () => Promise.reject(away) } };
  const logged: string[] = [];
  const logger = { info() {}, warn() {}, error: (message: string) => logged.push(message) };

  const run = runSessionJob(runtimeOver(broken), 'x', ({ id }) => (id === 's2' ? failed('no') : id), {
    logger,
  });

  const thrown = await run.catch((error: unknown) => error);
  expect(thrown).toBeInstanceOf(ErrorLogUnavailableError);
  expect(thrown).toMatchObject({ code: 'error_log_unavailable', unrecorded: 1, cause: away });
  const jobs = byId((thrown as ErrorLogUnavailableError).jobs);
  expect([jobs.get('s1')?.ok, jobs.get('s2')?.ok, jobs.get('s3')?.ok]).toEqual([true, false, true]);
  expect(logged).toEqual(['a session failed', 'a failure could not be written to the error log']);
});

test('sessions that cannot be read end the run', async () => {
  const broken = {
    ...stores,
    sessions: { ...stores.sessions, listShard: () => Promise.reject(new Error('away')) },
  };

  await expect(runSessionJob(runtimeOver(broken), 'x', () => 1)).rejects.toThrow('away');
});

test('a handler gets its memory, the run, a stable key and the time', async () => {
  await runtime
    .memory('s1', { id: 'ann' })
    .remember({ content: 'hi' })
    .catch(() => {});
  await register('s1');
  await runtime.memory('s1', { id: 'ann' }).remember({ id: 'm', content: 'hi' });
  const seen: unknown[] = [];
  const handler: SessionJobHandler = async (session, context) => {
    const { items } = await context.memory({ id: 'bob' }).recent();
    seen.push([
      session.id,
      context.action,
      context.runId,
      context.idempotencyKey,
      context.now,
      items[0]?.content,
    ]);
  };

  await compactStaleSessions(runtime, handler, { runId: 'tick-1' });
  await compactStaleSessions(runtime, handler, { runId: 'tick-1' });

  const expected = ['s1', 'compact-stale-sessions', 'tick-1', '["tick-1","s1"]', clock.now(), 'hi'];
  expect(seen).toEqual([expected, expected]);
});

describe('jobOk, jobError and options', () => {
  test('jobError records and returns the failed job', async () => {
    const job = await jobError(runtime, 's1', 'x', failed('no'), { runId: 'r' });

    expect(job).toEqual({
      ...{ sessionId: 's1', action: 'x', ok: false, result: null },
      error: { kind: 'failed', reason: 'no' },
    });
    expect((await runtime.listErrors()).items).toMatchObject([
      { msg: 'failed: no', sessionId: 's1', runId: 'r' },
    ]);
  });

  test.each([
    ['concurrency', { concurrency: 0 }],
    ['timeoutSecs', { timeoutSecs: 0 }],
    ['timeoutSecs', { timeoutSecs: 3_000_000 }],
  ])('refuses a bad %s', async (field, options) => {
    await expect(runSessionJob(runtime, 'x', () => 1, options)).rejects.toMatchObject({ field });
  });
});

test.each<[string, unknown, string]>([
  ['an error', new Error('no model'), 'no model'],
  ["an object of a database's client", { message: 'refused', code: '42501' }, 'refused (42501)'],
  ['nothing', undefined, 'no reason was given'],
  ['blanks', ' ', 'no reason was given'],
  ['a symbol', Symbol('gone'), 'a thrown symbol: Symbol(gone)'],
])('the reason of a failure that is given as %s is kept', async (_what, given, reason) => {
  await register('s1');

  const jobs = await runSessionJob(runtime, 'digest', () => failed(given as string));

  expect(jobs).toMatchObject([{ ok: false, error: { kind: 'failed', reason } }]);
  expect((await runtime.listErrors()).items).toMatchObject([{ msg: `failed: ${reason}` }]);
});

test('no concurrency that is taken is too large', async () => {
  await register('s1', 's2');

  const jobs = await runSessionJob(runtime, 'digest', () => 1, { concurrency: Number.MAX_SAFE_INTEGER });

  expect(jobs.map(({ ok }) => ok)).toEqual([true, true]);
});

describe('the instances of agents in a run', () => {
  const counting = defineAgent({
    name: 'support',
    dump: ({ turns }: { turns: number }) => ({ count: turns }),
    load: ({ count }) => ({ turns: count as number }),
  });
  const run = async (handler: SessionJobHandler) => {
    const store = memoryStore();
    const handles = agentHandles({ store }, new Map([['support', counting]]));
    const jobs = await runSessionJob(runtime, 'count', handler, { handles });
    return { jobs, store };
  };

  test('are those of the agent, by the session unless another key is named, through its callbacks', async () => {
    await register('a', 'b');

    const { store } = await run(async (_session, { instance }) => {
      orThrow(await instance().hibernate({ turns: 1 }));
      orThrow(await instance().update((agent) => ({ turns: agent.turns + 1 })));
      orThrow(await instance('all').update((agent) => ({ turns: (agent?.turns ?? 0) + 1 })));
      return orThrow(await instance('gone').forget());
    });

    for (const key of ['a', 'b', 'all']) {
      expect(await thaw({ store }, 'support', key)).toMatchObject({ status: 'ok', agent: { count: 2 } });
    }
  });

  test('are of another agent where one is named', async () => {
    await register('a');

    const { store } = await run(async ({ id }, { agent }) => {
      orThrow(await agent('planner').instance(id).hibernate({ plan: [] }));
    });

    expect(await thaw({ store }, 'planner', 'a')).toMatchObject({ agent: { plan: [] } });
    expect((await thaw({ store }, 'support', 'a')).status).toBe('not_found');
  });

  test('are of the agent itself where no other is named, whose name is known without a store too', async () => {
    await register('a');

    const { jobs } = await run(async (_session, { agent }) => agent().name);
    const storeless = await runSessionJob(runtime, 'count', (_session, { agent }) => agent().name);

    for (const [job] of [jobs, storeless]) expect(job?.result).toBe('support');
  });

  test('fail the job where the run was given no store, and say what to give', async () => {
    await register('a');

    const jobs = await runSessionJob(runtime, 'count', (_session, { instance }) => instance().thaw());

    expect(jobs).toMatchObject([{ ok: false, error: { reason: expect.stringContaining('agentHandles') } }]);
  });

  test('a result that is an error fails the job', async () => {
    await register('a');

    const { jobs } = await run((_session, { instance }) =>
      instance().hibernate({ turns: 1 }, { ifMatch: 'another' }),
    );

    expect(jobs).toMatchObject([{ ok: false, error: { reason: expect.stringContaining('precondition') } }]);
  });
});

test('a logger that throws costs no session its job', async () => {
  await register('s1', 's2');
  const logger = {
    info() {},
    warn() {},
    error: () => {
      throw new Error('no console');
    },
  };

  const jobs = await runSessionJob(runtimeOver(stores), 'x', () => failed('no'), { logger });

  expect(jobs.map(({ error }) => error?.reason)).toEqual(['no', 'no']);
});
