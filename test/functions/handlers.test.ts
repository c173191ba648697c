import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { z } from 'zod';
import { handler as fallback } from '../../functions/http/fallback.ts';
import { handler as forget } from '../../functions/http/forget.ts';
import { handler as hibernate } from '../../functions/http/hibernate.ts';
import type { HttpHandler } from '../../functions/http/http-handler.ts';
import { handler as listInstances } from '../../functions/http/list-instances.ts';
import { handler as thaw } from '../../functions/http/thaw.ts';
import { type Services, useServices } from '../../functions/services.ts';
import { defineAgent, indexAgents } from '../../lib/agents/define-agent.ts';
import { hibernate as hibernateState } from '../../lib/persistence/hibernate.ts';
import { memoryStore } from '../../lib/persistence/memory-store.ts';
import { CorruptError, UnavailableError } from '../../lib/persistence/persistence-error.ts';
import type { SnapshotCatalog } from '../../lib/persistence/snapshot-store.ts';
import { httpEvent } from '../support/http-event.ts';

const secret = 'the-secret-of-the-state';
const agents = [
  defineAgent({
    name: 'refusing',
    dump: () => {
      throw new Error(secret);
    },
  }),
  defineAgent({
    name: 'sleepless',
    load: () => {
      throw new Error(secret);
    },
  }),
  defineAgent({
    name: 'changing',
    dump: (state: object) => ({ ...state, v: 2 }),
    load: (dump: object) => ({ ...dump, woken: true }),
  }),
  defineAgent({ name: 'richer', load: (dump: object) => ({ ...dump, at: new Date(0) }) }),
  defineAgent({ name: 'unsendable', load: () => ({ run: () => 1 }) }),
  defineAgent({ name: 'strict', state: z.object({ mood: z.string() }) }),
];
const json = { 'content-type': 'application/json' };

describe('the handlers', () => {
  let store: SnapshotCatalog;
  let lines: string[];
  let services: Services;

  beforeEach(() => {
    store = memoryStore();
    lines = [];
    // Powertools writes through a console of its own to standard output, except in its development mode.
    for (const method of ['log', 'info', 'warn', 'error', 'debug'] as const) {
      vi.spyOn(console, method).mockImplementation((line) => void lines.push(String(line)));
    }
    vi.spyOn(process.stdout, 'write').mockImplementation((line) => Boolean(lines.push(String(line))));
    vi.spyOn(process.stderr, 'write').mockImplementation((line) => Boolean(lines.push(String(line))));
    services = { agents: indexAgents(agents), strictAgents: false, tenantClaim: undefined, store };
    useServices(services);
  });
  afterEach(() => {
    vi.restoreAllMocks();
  });

  const put = (agent: string, body: string, headers: Record<string, string> = json, more = {}) =>
    hibernate(httpEvent({ method: 'PUT', agent, key: 'k', body, headers, ...more }));
  const get = (agent: string, headers = {}, more = {}) =>
    thaw(httpEvent({ agent, key: 'k', headers, ...more }));
  const codeOf = (result: { body?: string | undefined }) => JSON.parse(result.body ?? '{}').code;

  describe('agents with callbacks', () => {
    test('dump makes what is stored, load what is sent', async () => {
      expect(await put('changing', '{ "mood": "calm" }')).toMatchObject({ statusCode: 201 });
      expect(await get('changing')).toMatchObject({
        ...{ statusCode: 200, body: '{"mood":"calm","v":2,"woken":true}', isBase64Encoded: false },
        headers: expect.objectContaining({ 'content-type': 'application/json' }),
      });
      const compressed = await get('changing', { 'accept-encoding': 'gzip' });
      expect(compressed.body).toBe('{"mood":"calm","v":2,"woken":true}');
      const head = await get('changing', {}, { method: 'HEAD' });
      expect(head.headers).not.toHaveProperty('content-length');
    });

    test('types that JSON loses are sent as rich text under its own type', async () => {
      await put('richer', '{}');
      const { headers, body = '' } = await get('richer');
      expect(headers).toMatchObject({ 'content-type': 'application/vnd.dormouse.rich+json' });
      expect(Buffer.from(body, 'base64').toString()).toContain('1970-01-01');
    });

    test('a refusing dump is 422, a failing load 500, what load makes unsendable 500: no word of the state anywhere', async () => {
      const dumped = await put('refusing', `{"x":"${secret}"}`);
      expect([dumped.statusCode, codeOf(dumped)]).toEqual([422, 'dump_failed']);

      for (const agent of ['sleepless', 'unsendable']) {
        await put(agent, `{"x":"${secret}"}`);
        const loaded = await get(agent);
        expect([loaded.statusCode, codeOf(loaded)]).toEqual([500, 'load_failed']);
        expect(await store.head(`${agent}/k`)).toMatchObject({ version: 1 });
      }
      expect(dumped.body).not.toContain(secret);
      expect(lines.join()).not.toContain(secret);
    });

    test('a state that the schema refuses is 422 and names the field; one that fits is kept as it was sent', async () => {
      const refused = await put('strict', '{"mood":7}');
      expect(refused.statusCode).toBe(422);
      expect(JSON.parse(refused.body ?? '')).toMatchObject({
        code: 'invalid_state',
        detail: expect.stringContaining('$.mood'),
      });

      expect(await put('strict', '{ "mood" : "calm", "x": 1.0 }')).toMatchObject({ statusCode: 201 });
      expect(await get('strict')).toMatchObject({ body: '{ "mood" : "calm", "x": 1.0 }' });
    });

    test('content that is not JSON is 415 where a callback or schema reads it', async () => {
      for (const agent of ['strict', 'changing']) {
        const refused = await put(agent, 'text', { 'content-type': 'text/plain' });
        expect([refused.statusCode, codeOf(refused)]).toEqual([415, 'unsupported_media_type']);
      }
    });
  });

  describe('events', () => {
    const bytes = Buffer.from('{"greeting":"é🔑"}');

    test.each([
      'application/json',
      'application/json; charset=utf-8',
      'application/problem+json',
      'text/plain',
      undefined,
    ])('a %s body is the same bytes in base64 and as text', async (type) => {
      const headers: Record<string, string> = type === undefined ? {} : { 'content-type': type };
      for (const [body, base64] of [
        [bytes.toString(), false],
        [bytes.toString('base64'), true],
      ] as const) {
        expect((await put('planner', body, headers, { base64 })).statusCode).toBeLessThan(300);
        const read = await get('planner');
        expect(Buffer.from(read.body ?? '', read.isBase64Encoded ? 'base64' : 'utf8').equals(bytes)).toBe(
          true,
        );
        expect(read.headers).toMatchObject({ 'content-type': type ?? 'application/octet-stream' });
      }
    });

    test('header names in any case are understood', async () => {
      await put('planner', '1', { 'Content-Type': 'application/json' });
      const refused = await put('planner', '2', { ...json, 'If-None-Match': '*' });
      expect(refused.statusCode).toBe(412);
    });

    test('a body that is marked as base64 but is not is 400', async () => {
      for (const body of ['{"a":1}', 'YQ', 'YQ==YQ==', 'é===']) {
        expect((await put('planner', body, json, { base64: true })).statusCode).toBe(400);
      }
      expect((await get('planner')).statusCode).toBe(404);
    });

    test('an absent body is 0 bytes, or not JSON', async () => {
      const { body: _none, ...event } = httpEvent({ method: 'PUT', key: 'k' });
      expect((await hibernate(event)).statusCode).toBe(201);
      expect((await hibernate({ ...event, body: null as never, headers: json })).statusCode).toBe(400);
      expect(await get('planner')).toMatchObject({ statusCode: 200, body: '' });
    });

    test('bytes that a gateway altered by taking them for text are refused, not stored', async () => {
      const sent = Buffer.from('61ff62', 'hex');
      const text = { 'content-type': 'text/plain', 'content-length': String(sent.length) };
      const altered = await put('planner', sent.toString('utf8'), text);
      expect([altered.statusCode, codeOf(altered)]).toEqual([400, 'invalid_request']);

      const headers = { ...json, 'content-encoding': 'gzip', 'content-length': '27' };
      const damaged = await put('planner', gzipSync('{"a":1}').toString('utf8'), headers);
      expect([damaged.statusCode, codeOf(damaged)]).toEqual([400, 'invalid_request']);
      expect(JSON.parse(damaged.body ?? '').detail).toContain('content type');
      expect((await get('planner')).statusCode).toBe(404);
    });

    test('gzip inside base64 is undone in that order', async () => {
      const headers = { ...json, 'content-encoding': 'gzip' };
      const body = gzipSync('{"a":1}').toString('base64');
      expect((await put('planner', body, headers, { base64: true })).statusCode).toBe(201);
      expect((await get('planner')).body).toBe('{"a":1}');
    });

    test('a key that is still encoded is refused, never decoded a second time', async () => {
      for (const key of ['a%2Fb', 'a%20b', '%zz', '100%']) {
        expect((await thaw(httpEvent({ key }))).statusCode).toBe(400);
      }
    });

    test('a named stage leads the path and is taken off once', async () => {
      const rawPath = '/prod/v1/agents/prod/instances/k';
      const refused = await fallback(httpEvent({ method: 'PATCH', stage: 'prod', rawPath }));
      expect(refused).toMatchObject({
        statusCode: 405,
        headers: expect.objectContaining({ allow: 'PUT, GET, HEAD, DELETE' }),
      });
      const unknown = await fallback(
        httpEvent({ method: 'PATCH', stage: 'prod', rawPath: `/prod${rawPath}` }),
      );
      expect(unknown.statusCode).toBe(404);
    });

    test('the answer to a binary state is marked as base64', async () => {
      await put(
        'planner',
        Buffer.from([0, 255]).toString('base64'),
        { 'content-type': 'image/png' },
        { base64: true },
      );
      expect(await get('planner')).toMatchObject({ isBase64Encoded: true, body: 'AP8=' });
    });
  });

  describe('failures of the store', () => {
    const failing = (error: unknown) => {
      const fail = () => Promise.reject(error);
      useServices({ ...services, store: { get: fail, head: fail, put: fail, delete: fail, list: fail } });
    };
    const calls: Record<string, () => ReturnType<HttpHandler>> = {
      hibernate: () => put('planner', '1'),
      thaw: () => get('planner'),
      head: () => get('planner', {}, { method: 'HEAD' }),
      forget: () => forget(httpEvent({ method: 'DELETE', key: 'k' })),
      'list-instances': () => listInstances(httpEvent()),
    };
    const failures: [string, unknown, number, string, string | undefined][] = [
      ['throttling', new UnavailableError('x', { throttled: true }), 429, 'throttled', '1'],
      [
        'a denied or failing request',
        new UnavailableError('x', { retryable: false }),
        503,
        'unavailable',
        '1',
      ],
      ['damage', new CorruptError('x'), 500, 'corrupt', undefined],
    ];
    for (const [name, call] of Object.entries(calls)) {
      test.each(failures)(
        `${name}: %s has its own answer, never 404`,
        async (_what, error, status, code, retryAfter) => {
          failing(error);
          const answer = await call();
          expect([answer.statusCode, codeOf(answer), answer.headers?.['retry-after']]).toEqual([
            status,
            code,
            retryAfter,
          ]);
          expect(JSON.parse(answer.body ?? '')).toMatchObject({ requestId: 'request-1' });
        },
      );
    }

    test('an error that is not ours is 500 without its message, which the log has', async () => {
      useServices({
        ...services,
        get agents(): never {
          throw new Error('inner detail');
        },
      });

      const answer = await get('planner');

      expect([answer.statusCode, codeOf(answer)]).toEqual([500, 'internal']);
      expect(answer.body).not.toContain('inner detail');
      expect(lines.join()).toContain('inner detail');
    });
  });

  describe('settings', () => {
    test('with strictAgents an agent that is not defined is 404 on every route', async () => {
      useServices({ ...services, strictAgents: true });
      for (const answer of [
        await put('nobody', '1'),
        await get('nobody'),
        await listInstances(httpEvent({ agent: 'nobody' })),
      ]) {
        expect([answer.statusCode, codeOf(answer)]).toEqual([404, 'unknown_agent']);
      }
      expect((await put('strict', '{"mood":"calm"}')).statusCode).toBe(201);
    });

    test('with a tenant claim each tenant sees only its own, and a token without it is 403', async () => {
      useServices({ ...services, tenantClaim: 'org' });
      const as = (org: string) => ({ claims: { org } });
      await put('planner', '"of one"', json, as('one'));
      await put('planner', '"of two"', json, as('two/planner'));
      await hibernateState({ store }, 'planner', 'k', 'of nobody');

      expect((await get('planner', {}, as('one'))).body).toBe('"of one"');
      expect((await get('planner', {}, as('two/planner'))).body).toBe('"of two"');
      expect((await get('planner', {}, as('three'))).statusCode).toBe(404);
      expect(JSON.parse((await listInstances(httpEvent(as('one')))).body ?? '').items).toHaveLength(1);
      for (const claims of [undefined, { org: '' }, { other: 'one' }]) {
        const refused = await get('planner', {}, { claims });
        expect([refused.statusCode, codeOf(refused)]).toEqual([403, 'forbidden']);
      }
    });

    test('a snapshot that a library wrote and no answer can carry is 413, not a broken answer', async () => {
      await hibernateState(
        { store },
        'planner',
        'k',
        crypto.getRandomValues(Buffer.alloc(65_536)).toString('hex').repeat(100),
      );

      const answer = await get('planner');

      expect(answer.statusCode).toBe(413);
      expect(JSON.parse(answer.body ?? '')).toMatchObject({
        code: 'too_large',
        size: 13_107_202,
        limit: expect.any(Number),
      });
    });
  });

  test('the log names agent, key hash, request id and status, and nothing of key or state', async () => {
    await put('planner', `{"x":"${secret}"}`);
    await hibernate(
      httpEvent({
        method: 'PUT',
        agent: 'planner',
        key: 'jane@example.com',
        body: `{"x":"${secret}`,
        headers: json,
      }),
    );

    const logged = lines.filter((line) => line.includes('"request"')).map((line) => JSON.parse(line));
    expect(logged).toMatchObject([
      {
        agent: 'planner',
        keyHash: expect.stringMatching(/^[0-9a-f]{16}$/),
        requestId: 'request-1',
        status: 201,
      },
      { agent: 'planner', status: 400, code: 'invalid_json' },
    ]);
    expect(lines.join()).not.toContain(secret);
    expect(lines.join()).not.toContain('jane');
  });
});
