import { beforeEach, expect, test } from 'vitest';
import {
  type AgentRuntime,
  createMemory,
  createRuntime,
  DEFAULT_RETENTION,
  inMemoryStores,
  selectPolicy,
} from '../../../lib/index.ts';
import { type TestClock, testClock } from '../../support/test-clock.ts';

let clock: TestClock;
let runtime: AgentRuntime;
const stores = inMemoryStores();

beforeEach(() => {
  clock = testClock('2027-01-01T23:59:59.999Z');
  runtime = createRuntime('support', { stores, clock: clock.now, maxErrors: 2 });
});

test.each<[string, () => unknown]>([
  ['a runtime', () => createRuntime('support', undefined as never)],
  ['a runtime with other options', () => createRuntime('support', { maxErrors: 2 } as never)],
  ['a memory', () => createMemory('support', 's1', { id: 'ann' }, undefined as never)],
])('%s without stores is refused by the name of the option', (_what, make) => {
  expect(make).toThrow(/^options.stores: is missing/);
});

test('tells the time in whole seconds and in days of UTC', () => {
  expect(runtime.nowEpochSecs()).toBe(1_798_847_999);
  expect(runtime.todayBucket()).toBe('2027-01-01');
  clock.advanceSecs(1);
  expect(runtime.todayBucket()).toBe('2027-01-02');
});

test('remembering marks the session as active, and does not bring back one that is not registered', async () => {
  await runtime.registerSession('s1', { channel: 'web' });
  const memory = runtime.memory('s1', { id: 'ann' });
  clock.advanceSecs(60);

  await memory.remember({ content: 'hi' });

  expect(await runtime.getSession('s1')).toMatchObject({
    meta: { channel: 'web' },
    lastActiveAt: clock.now(),
  });
  await runtime.deregisterSession('s1');
  await expect(memory.remember({ content: 'late' })).rejects.toMatchObject({ code: 'session_not_found' });
  expect(await runtime.getSession('s1')).toBeUndefined();
  expect((await memory.recent()).items).toHaveLength(1);
});

test.each(['a/b', '/', 'p%q', 'a?', 'a#', 'a\\b', '.', '..', 'a\nb', 'a\u007f'])(
  'the session %o, which no path could reach, is not registered; one that is there already is read and visited',
  async (id) => {
    await expect(runtime.registerSession(id)).rejects.toMatchObject({ code: 'invalid_input', field: 'id' });
    expect(await runtime.getSession(id)).toBeUndefined();
    await stores.sessions.register('support', { id, meta: {}, at: clock.now() });

    const visited: string[] = [];
    for await (const session of runtime.listRegisteredSessions()) visited.push(session.id);
    expect(visited).toContain(id);
    await runtime.memory(id, { id: 'ann' }).remember({ content: 'still read' });
    expect((await runtime.memory(id).recent()).items).toHaveLength(1);
    expect(await runtime.deregisterSession(id)).toBe(true);
  },
);

test('lists sessions in pages and errors newest first, rolling', async () => {
  for (const id of ['a', 'b', 'c']) {
    await runtime.registerSession(id);
    await runtime.recordError({ where: 'x', msg: id });
  }

  const page = await runtime.listSessionPage({ limit: 2 });
  const rest = await runtime.listSessionPage({ limit: 2, after: page.next });
  expect([...page.items, ...rest.items].map(({ id }) => id).sort()).toEqual(['a', 'b', 'c']);
  expect((await runtime.listErrors()).items.map(({ msg }) => msg)).toEqual(['c', 'b']);
});

test('counts', async () => {
  await runtime.bumpCounter('sent');

  expect(await runtime.bumpCounter('sent', 2)).toBe(3);
  expect(await runtime.getCounter('sent')).toBe(3);
});

test.each([
  ['id', () => runtime.registerSession('')],
  ['id', () => runtime.registerSession('x'.repeat(513))],
  ['id', () => runtime.registerSession('\ud800')],
  ['meta', () => runtime.registerSession('s', { at: new Date() })],
  ['meta', () => runtime.registerSession('s', [] as never)],
  ['meta', () => runtime.registerSession('s', { text: 'x'.repeat(33_000) })],
  ['by', () => runtime.bumpCounter('n', 0.5)],
  ['limit', () => runtime.listErrors({ limit: 0 })],
  ['maxErrors', async () => createRuntime('support', { stores, maxErrors: 0 })],
  ['agentName', async () => createRuntime('', { stores })],
  ['session', async () => createMemory('support', '', undefined, { stores })],
  ['identity.id', async () => createMemory('support', 's', { id: '' }, { stores })],
  ['identity', () => createMemory('support', 's', undefined, { stores }).getUserData()],
  ['messages[0].sender', () => createMemory('support', 's', undefined, { stores }).remember({ content: 1 })],
])('refuses a bad %s by name', async (field, call) => {
  await expect(call()).rejects.toMatchObject({ code: 'invalid_input', field });
});

test('an agent has its own policy or the default one', () => {
  const strict = { ...DEFAULT_RETENTION, name: 'strict' };

  expect(selectPolicy({ retention: strict })).toBe(strict);
  expect(selectPolicy({})).toBe(DEFAULT_RETENTION);
  expect(selectPolicy(undefined)).toBe(DEFAULT_RETENTION);
  expect(selectPolicy([DEFAULT_RETENTION, strict], 'strict')).toBe(strict);
  expect(() => selectPolicy([strict], 'stict')).toThrow('name');
  expect(selectPolicy([strict])).toBe(DEFAULT_RETENTION);
  expect(DEFAULT_RETENTION).toMatchObject({
    ...{ rawRetentionSecs: 2_592_000, compactAfterSecs: 604_800, capsuleRetentionSecs: null },
    ...{ exportAllowed: true, forgetAllowed: true },
  });
});
