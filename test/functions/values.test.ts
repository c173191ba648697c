import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { useServices } from '../../functions/services.ts';
import { defineAgent, indexAgents } from '../../lib/agents/define-agent.ts';
import { CorruptError, UnavailableError } from '../../lib/errors.ts';
import { memoryStore } from '../../lib/in-memory/snapshot-store.ts';
import { inMemoryStores } from '../../lib/in-memory/stores.ts';
import { DEFAULT_RETENTION } from '../../lib/memory/retention.ts';
import { createRuntime } from '../../lib/runtime/create-runtime.ts';
import { capturedLog } from '../support/captured-log.ts';
import { request } from '../support/every-route.ts';

const closed = defineAgent({
  name: 'closed',
  retention: { ...DEFAULT_RETENTION, name: 'closed', forgetAllowed: false },
});
const placesOf = (agent: string) => [
  `/v1/agents/${agent}/sessions/s1/users/ann`,
  `/v1/agents/${agent}/knowledge`,
];

describe('user data and knowledge', () => {
  let stores: ReturnType<typeof inMemoryStores>;
  let lines: string[];
  const use = (memory = stores.memory) =>
    useServices({
      ...{ agents: indexAgents([closed]), strictAgents: false, tenantClaim: undefined },
      ...{ store: memoryStore(), stores: { ...stores, memory } },
    });

  beforeEach(async () => {
    lines = capturedLog();
    stores = inMemoryStores();
    use();
    for (const agent of ['closed', 'planner']) await request('PUT', `/v1/agents/${agent}/sessions/s1`);
  });
  afterEach(() => {
    vi.restoreAllMocks();
  });

  test('stay where the policy forbids to forget', async () => {
    for (const place of placesOf('closed')) {
      await request('PUT', `${place}/color`, { body: '"blue"' });

      const answer = await request('DELETE', `${place}/color`);

      expect([answer.status, answer.body.code]).toEqual([403, 'forbidden_by_policy']);
      expect(await request('GET', `${place}/color`)).toMatchObject({ status: 200, body: 'blue' });
    }
  });

  test('are those of the library, what JSON cannot carry shown as text, and keys that no path can name listed', async () => {
    const memory = createRuntime('planner', { stores }).memory('s1', { id: 'ann' });
    const born = new Date('2020-01-01T00:00:00Z');
    await memory.setUserData('born', born);
    await memory.setUserData('a/b', 1);
    await memory.learn('born', born);
    await memory.learn('a/b', 1);

    for (const place of placesOf('planner')) {
      await request('PUT', `${place}/sent`, { body: '{"n":1}' });
      expect((await request('GET', place)).body.items).toEqual([
        { key: 'a/b', value: 1 },
        { key: 'born', value: born.toISOString() },
        { key: 'sent', value: { n: 1 } },
      ]);
      expect((await request('GET', `${place}/born`)).body).toBe(born.toISOString());
    }

    expect(await memory.getUserData()).toEqual({ 'a/b': 1, born, sent: { n: 1 } });
    expect(await memory.getKnowledge()).toEqual({ 'a/b': 1, born, sent: { n: 1 } });
  });

  test('that no answer could carry are 413, however few bytes they take', async () => {
    for (const place of placesOf('planner')) {
      const answer = await request('PUT', `${place}/zeros`, { body: JSON.stringify('0'.repeat(6_400_000)) });

      expect([answer.status, answer.body.code]).toEqual([413, 'too_large']);
      expect((await request('GET', place)).body).toEqual({ items: [] });
    }
  });

  test('are not found by a failing store: it has its own answer', async () => {
    for (const [error, status] of [
      [new UnavailableError('x', { throttled: true }), 429],
      [new UnavailableError('x', { retryable: false }), 503],
      [new CorruptError('x'), 500],
    ] as const) {
      use(new Proxy(stores.memory, { get: () => () => Promise.reject(error) }));
      for (const place of placesOf('planner')) {
        for (const [method, path] of [
          ['GET', place],
          ['GET', `${place}/k`],
          ['PUT', `${place}/k`],
          ['DELETE', `${place}/k`],
        ] as const) {
          const answer = await request(method, path, { ...(method === 'PUT' && { body: '1' }) });
          expect([method, path, answer.status]).toEqual([method, path, status]);
        }
      }
    }
  });

  test('are in no log, and neither are their keys and identities', async () => {
    for (const place of placesOf('planner')) {
      await request('PUT', `${place}/the-key`, { body: '"the-secret"' });
      await request('PUT', `${place}/the-key`, { body: '{"the-secret":1e400}' });
      await request('GET', `${place}/the-key`);
    }

    expect(lines.join()).toContain('"agent":"planner"');
    expect(lines.join()).not.toMatch(/the-secret|the-key|\bann\b/);
  });
});
