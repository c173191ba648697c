import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { HttpHandler } from '../../functions/http/http-handler.ts';
import { type Services, useServices } from '../../functions/services.ts';
import { defineAgent, indexAgents } from '../../lib/agents/define-agent.ts';
import { CorruptError, UnavailableError } from '../../lib/errors.ts';
import { memoryStore } from '../../lib/in-memory/snapshot-store.ts';
import { inMemoryStores } from '../../lib/in-memory/stores.ts';
import { DEFAULT_RETENTION } from '../../lib/memory/retention.ts';
import { createRuntime, type RuntimeStores } from '../../lib/runtime/create-runtime.ts';
import { capturedLog } from '../support/captured-log.ts';
import { handlerOf } from '../support/handler-of.ts';
import { httpEvent } from '../support/http-event.ts';

const deregisterSession = handlerOf('deregister-session');
const exportMemory = handlerOf('export-memory');
const forgetMessages = handlerOf('forget-messages');
const getSession = handlerOf('get-session');
const listErrors = handlerOf('list-errors');
const listSessions = handlerOf('list-sessions');
const recent = handlerOf('recent');
const registerSession = handlerOf('register-session');
const remember = handlerOf('remember');

const agents = [
  defineAgent({
    name: 'closed',
    retention: { ...DEFAULT_RETENTION, name: 'closed', exportAllowed: false, forgetAllowed: false },
  }),
  defineAgent({
    name: 'short',
    retention: { ...DEFAULT_RETENTION, name: 'short', rawRetentionSecs: 60, compactAfterSecs: null },
  }),
];

const listCapsules = handlerOf('list-capsules');
const compact = handlerOf('compact');

describe('the handlers of sessions and memory', () => {
  let services: Services;
  let stores: RuntimeStores;
  let lines: string[];

  beforeEach(() => {
    lines = capturedLog();
    stores = inMemoryStores();
    services = {
      ...{ agents: indexAgents(agents), strictAgents: false, tenantClaim: undefined },
      store: memoryStore(),
      stores,
    };
    useServices(services);
  });
  afterEach(() => {
    vi.restoreAllMocks();
  });

  const event = (method: string, agent: string, more: Parameters<typeof httpEvent>[0] = {}) => {
    const made = httpEvent({ method, agent, headers: { 'content-type': 'application/json' }, ...more });
    return { ...made, pathParameters: { agent, session: 's1' } };
  };
  const ask = async (handler: HttpHandler, method: string, agent: string, more = {}) => {
    const { statusCode, body, headers } = await handler(event(method, agent, more));
    return { statusCode, headers, body: body ? JSON.parse(body) : undefined };
  };
  const message = JSON.stringify({
    id: 'm1',
    content: 'the-secret-of-the-message',
    sender: { id: 'ann' },
    timestamp: '2020-01-01T00:00:00Z',
  });
  const range = { query: { from: '0', to: '9999999999999' } };

  test('a policy that forbids export or forget is 403, and nothing is removed', async () => {
    await ask(registerSession, 'PUT', 'closed');
    const now = JSON.stringify({ id: 'm1', content: 'kept', sender: { id: 'ann' } });
    expect((await ask(remember, 'POST', 'closed', { body: now })).statusCode).toBe(201);

    for (const answer of [
      await ask(exportMemory, 'GET', 'closed'),
      await ask(forgetMessages, 'DELETE', 'closed', range),
      await ask(deregisterSession, 'DELETE', 'closed', { query: { memory: 'forget' } }),
    ]) {
      expect([answer.statusCode, answer.body.code]).toEqual([403, 'forbidden_by_policy']);
    }
    expect((await ask(getSession, 'GET', 'closed')).statusCode).toBe(200);
    expect((await ask(recent, 'GET', 'closed')).body.items).toHaveLength(1);
  });

  test('an agent that nobody has defined loses nothing by age; what a policy has removed by now is refused', async () => {
    for (const [agent, status, kept] of [
      ['anybody', 201, 1],
      ['short', 400, 0],
    ] as const) {
      await ask(registerSession, 'PUT', agent);
      expect((await ask(remember, 'POST', agent, { body: message })).statusCode).toBe(status);
      expect((await ask(recent, 'GET', agent)).body.items).toHaveLength(kept);
    }
  });

  test('an export that fits into no answer is refused after no more was read than an answer holds', async () => {
    const runtime = createRuntime('planner', { stores });
    await runtime.registerSession('s1');
    const content = 'x'.repeat(500_000);
    const sent = Array.from({ length: 60 }, (_, index) => ({ id: `m${index}`, content: content + index }));
    await runtime.memory('s1', { id: 'ann' }).remember(sent);
    let read = 0;
    const list: RuntimeStores['memory']['list'] = async (...args) => {
      const page = await stores.memory.list(...args);
      read += page.items.length;
      return page;
    };
    useServices({ ...services, stores: { ...stores, memory: { ...stores.memory, list } } });

    const answer = await ask(exportMemory, 'GET', 'planner');

    expect([answer.statusCode, answer.body.code]).toEqual([413, 'too_large']);
    expect(read).toBeLessThanOrEqual(28);
  });

  test('what the library remembers and JSON cannot carry is shown as text, and keeps nothing else from being shown', async () => {
    const runtime = createRuntime('planner', { stores });
    await runtime.registerSession('s1');
    const memory = runtime.memory('s1', { id: 'ann' });
    const cycle: Record<string, unknown> = {};
    cycle.self = cycle;
    await memory.remember([
      {
        id: 'm1',
        content: { total: 10n, seen: new Map([['a', 1]]), at: new Date(0) },
        metadata: { rate: Number.NaN },
      },
      { id: 'm2', content: cycle },
      { id: 'm3', content: 'plain', source: 7n },
    ]);
    const { items } = await memory.recent();
    await memory.storeCapsule(memory.capsuleFromWindow(items, new Set(['a'])));
    await memory.setUserData('n', 1n);
    await memory.learn('n', new Map());

    const messages = [
      {
        content: { total: '10n', seen: "Map(1) { 'a' => 1 }", at: '1970-01-01T00:00:00.000Z' },
        metadata: { rate: 'NaN' },
      },
      { content: expect.stringContaining('[Circular') },
      { content: 'plain', source: '7n' },
    ];
    const capsules = [{ summary: "Set(1) { 'a' }", messageCount: 3 }];
    expect((await ask(recent, 'GET', 'planner')).body.items).toMatchObject(messages);
    expect((await ask(listCapsules, 'GET', 'planner')).body.items).toMatchObject(capsules);
    expect((await ask(exportMemory, 'GET', 'planner')).body).toMatchObject({
      ...{ messages, capsules },
      users: { ann: { n: '1n' } },
      knowledge: { n: 'Map(0) {}' },
    });
  });

  test('a registration whose body is no object changes nothing', async () => {
    await ask(registerSession, 'PUT', 'planner', { body: '{"meta":{"a":1}}' });

    for (const body of ['null', '[]', '"x"', '{"meta":null}', '{"mata":{}}'])
      expect((await ask(registerSession, 'PUT', 'planner', { body })).statusCode).toBe(400);

    expect((await ask(getSession, 'GET', 'planner')).body.meta).toEqual({ a: 1 });
  });

  test('tenants do not share sessions', async () => {
    useServices({ ...services, tenantClaim: 'org' });
    const as = (org: string) => ({ claims: { org } });
    await ask(registerSession, 'PUT', 'planner', as('one'));

    expect((await ask(getSession, 'GET', 'planner', as('one'))).statusCode).toBe(200);
    expect((await ask(getSession, 'GET', 'planner', as('two'))).statusCode).toBe(404);
    expect((await ask(listSessions, 'GET', 'planner', as('two'))).body.items).toEqual([]);
    expect((await ask(exportMemory, 'GET', 'planner', as('one'))).body.agent).toBe('planner');
  });

  test('the error log is answered newest first, with stacks unless a setting keeps them from callers', async () => {
    const runtime = createRuntime('planner', { stores });
    await runtime.recordError({ where: 'daily-digest', msg: 'first', stack: 'at file.ts:1' });
    await runtime.recordError({ where: 'daily-digest', msg: 'second', sessionId: 's1', runId: 'r1' });

    const { body } = await ask(listErrors, 'GET', 'planner');

    expect(body.items).toEqual([
      {
        id: expect.any(String),
        where: 'daily-digest',
        msg: 'second',
        ts: expect.stringMatching(/Z$/),
        sessionId: 's1',
        runId: 'r1',
      },
      {
        ...{ id: expect.any(String), where: 'daily-digest', msg: 'first', ts: expect.stringMatching(/Z$/) },
        stack: 'at file.ts:1',
      },
    ]);
    useServices({ ...services, showStacks: false });
    const { items } = (await ask(listErrors, 'GET', 'planner')).body;
    expect(items).toEqual(body.items.map(({ stack: _stack, ...entry }: Record<string, unknown>) => entry));
  });

  test('nothing of a message is logged', async () => {
    await ask(registerSession, 'PUT', 'planner');
    await ask(remember, 'POST', 'planner', { body: message });
    await ask(remember, 'POST', 'planner', { body: message.replace('the-secret', 'another-secret') });

    expect(lines.join()).toContain('"agent":"planner"');
    expect(lines.join()).not.toContain('secret');
  });

  const calls: [string, HttpHandler, string, object][] = [
    ['register-session', registerSession, 'PUT', {}],
    ['get-session', getSession, 'GET', {}],
    ['deregister-session', deregisterSession, 'DELETE', {}],
    ['list-sessions', listSessions, 'GET', {}],
    ['remember', remember, 'POST', { body: message }],
    ['recent', recent, 'GET', {}],
    ['forget-messages', forgetMessages, 'DELETE', range],
    ['list-capsules', listCapsules, 'GET', {}],
    ['compact', compact, 'POST', { body: '{"messageIds":["m"],"summary":"s"}' }],
    ['export-memory', exportMemory, 'GET', {}],
    ['list-errors', listErrors, 'GET', {}],
  ];
  const failures: [unknown, number, string][] = [
    [new UnavailableError('x', { throttled: true }), 429, 'throttled'],
    [new UnavailableError('x', { retryable: false }), 503, 'unavailable'],
    [new CorruptError('x'), 500, 'corrupt'],
  ];
  test.each(calls)(
    '%s: a failing store has its own answer, never 404',
    async (_name, handler, method, more) => {
      for (const [error, status, code] of failures) {
        const fail = () => Promise.reject(error);
        const failing = (port: object) => new Proxy(port, { get: () => fail });
        const { sessions, memory, errors, counters } = stores;
        const broken = {
          sessions: failing(sessions),
          memory: failing(memory),
          errors: failing(errors),
          counters: failing(counters),
        };
        useServices({ ...services, stores: broken as RuntimeStores });

        const answer = await ask(handler, method, 'planner', more);

        expect([answer.statusCode, answer.body.code]).toEqual([status, code]);
      }
    },
  );
});
