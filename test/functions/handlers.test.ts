import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { z } from 'zod';
import type { HttpHandler } from '../../functions/http/http-handler.ts';
import { type Services, useServices } from '../../functions/services.ts';
import { defineAgent, indexAgents } from '../../lib/agents/define-agent.ts';
import { CorruptError, UnavailableError } from '../../lib/errors.ts';
import { memoryStore } from '../../lib/in-memory/snapshot-store.ts';
import { hibernate as hibernateState } from '../../lib/persistence/hibernate.ts';
import type { SnapshotCatalog } from '../../lib/persistence/snapshot-store.ts';
import { thaw as thawState } from '../../lib/persistence/thaw.ts';
import { capturedLog } from '../support/captured-log.ts';
import { handlerOf } from '../support/handler-of.ts';
import { httpEvent } from '../support/http-event.ts';

const fallback = handlerOf('$default');
const forget = handlerOf('forget');
const hibernate = handlerOf('hibernate');
const listInstances = handlerOf('list-instances');
const thaw = handlerOf('thaw');

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
    lines = capturedLog();
    services = {
      agents: indexAgents(agents),
      strictAgents: false,
      tenantClaim: undefined,
      store,
    };
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

  test('GET with If-Match answers 412, not a newer state, when another writer comes between', async () => {
    await put('planner', '"one"');
    const etag = (await get('planner', {}, { method: 'HEAD' })).headers?.etag as string;
    const overtaken: SnapshotCatalog = {
      ...store,
      get: async (key) => {
        await hibernateState({ store }, 'planner', 'k', 'two');
        return store.get(key);
      },
    };
    useServices({ ...services, store: overtaken });

    expect((await get('planner', { 'if-match': etag })).statusCode).toBe(412);
  });

  describe('a write under If-Unmodified-Since', () => {
    const write = {
      PUT: (headers: Record<string, string>) => put('planner', '"mine"', { ...json, ...headers }),
      DELETE: (headers: Record<string, string>) => forget(httpEvent({ method: 'DELETE', key: 'k', headers })),
    };
    /** Somebody else does this right after the state was judged, so many times. */
    const overtakenBy = (other: () => Promise<unknown>, times = 1) => {
      let left = times;
      const head: SnapshotCatalog['head'] = async (key) => {
        const info = await store.head(key);
        if (left-- > 0) await other();
        return info;
      };
      useServices({ ...services, store: { ...store, head } });
    };
    const later = { 'if-unmodified-since': 'Fri, 01 Jan 2100 00:00:00 GMT' };
    const putAt = (iso: string) => hibernateState({ store: memoryStoreAt(iso) }, 'planner', 'k', 'theirs');
    const memoryStoreAt = (iso: string): SnapshotCatalog => ({
      ...store,
      put: async (key, dump, options) => {
        vi.setSystemTime(new Date(iso));
        return store.put(key, dump, options).finally(() => vi.useRealTimers());
      },
    });

    test.each(['PUT', 'DELETE'] as const)('%s is 412 where a newer state comes between', async (method) => {
      await putAt('2024-01-01T00:00:00.900Z');
      overtakenBy(() => putAt('2024-01-01T00:00:01.000Z'));

      const refused = await write[method]({ 'if-unmodified-since': 'Mon, 01 Jan 2024 00:00:00 GMT' });

      expect(refused.statusCode).toBe(412);
      expect((await get('planner')).body).toBe('"theirs"');
    });

    test.each(['PUT', 'DELETE'] as const)(
      '%s judges again what came between, where the date allows it',
      async (method) => {
        await putAt('2024-01-01T00:00:00Z');
        overtakenBy(() => putAt('2024-01-02T00:00:00Z'), 3);

        expect((await write[method](later)).statusCode).toBeLessThan(300);

        expect((await get('planner')).body).not.toBe('"theirs"');
      },
    );

    test.each(['PUT', 'DELETE'] as const)(
      '%s where nothing is stored does not take what came between',
      async (method) => {
        overtakenBy(() => putAt('2024-01-02T00:00:00Z'));

        const refused = await write[method]({ 'if-unmodified-since': 'Mon, 01 Jan 2024 00:00:00 GMT' });

        expect(refused.statusCode).toBe(412);
        expect((await get('planner')).body).toBe('"theirs"');
      },
    );

    test('a race that is never won ends as 503, with nothing written', async () => {
      await putAt('2024-01-01T00:00:00Z');
      overtakenBy(() => putAt('2024-01-02T00:00:00Z'), 1000);

      const answer = await write.PUT(later);

      expect([answer.statusCode, answer.headers?.['retry-after']]).toEqual([503, '1']);
      expect((await get('planner')).body).toBe('"theirs"');
    });
  });

  test('HEAD says what GET would send, compressed or not', async () => {
    await put('planner', JSON.stringify('z'.repeat(30_000)));
    for (const headers of [{}, { 'accept-encoding': 'gzip' }]) {
      const head = await get('planner', headers, { method: 'HEAD' });
      const full = await get('planner', headers);
      const sent = Buffer.from(full.body ?? '', full.isBase64Encoded ? 'base64' : 'utf8').length;
      expect(head.headers?.['content-length']).toBe(String(sent));
      expect(head.headers?.['content-encoding']).toBe(full.headers?.['content-encoding']);
    }
  });

  test('a rich state that is copied over HTTP is the same state for the library', async () => {
    const state = { seen: new Set([1n]), at: new Date(0) };
    await hibernateState({ store }, 'planner', 'k', state);
    const { body = '', headers } = await get('planner');
    const type = { 'content-type': String(headers?.['content-type']) };

    expect((await put('copy', body, type, { base64: true })).statusCode).toBe(201);

    expect(await thawState({ store }, 'copy', 'k')).toMatchObject({ status: 'ok', agent: state });
    expect((await put('copy', Buffer.from('{}').toString('base64'), type, { base64: true })).statusCode).toBe(
      400,
    );
  });

  test('a schema that quotes the state is not quoted', async () => {
    const issue = { message: `received "${secret}"`, path: ['mood'] };
    const state = {
      '~standard': { version: 1, vendor: 'test', validate: () => ({ issues: [issue] }) },
    } as const;
    useServices({ ...services, agents: indexAgents([{ name: 'quoting', state }]) });

    const refused = await put('quoting', '{}');

    expect(JSON.parse(refused.body ?? '')).toMatchObject({
      code: 'invalid_state',
      detail: 'the state was refused at $.mood',
    });
    expect(refused.body + lines.join()).not.toContain(secret);
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
      for (const encoding of [{}, { 'content-encoding': 'identity' }]) {
        const altered = await put('planner', sent.toString('utf8'), { ...text, ...encoding });
        expect([altered.statusCode, codeOf(altered)]).toEqual([400, 'invalid_request']);
      }

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

  test('the log names caller and tenant by hashes that tell them apart', async () => {
    useServices({ ...services, tenantClaim: 'org' });
    const callers = [
      { claims: { sub: 'ann', org: 'acme' } },
      { claims: { sub: 'bob', org: 'acme' } },
      { claims: { sub: 'ann', org: 'other' } },
    ];
    for (const caller of callers) await thaw(httpEvent({ key: 'k', ...caller }));
    useServices(services);
    const { requestContext, ...event } = httpEvent({ key: 'k' });
    const iam = { userArn: 'arn:aws:iam::1:user/ann' };
    await thaw({ ...event, requestContext: { ...requestContext, authorizer: { iam } } as never });

    const logged = lines.map((line) => JSON.parse(line)).filter(({ operation }) => operation === 'thaw');
    const [first, second, third, signed] = logged;
    expect(first).toMatchObject({ callerHash: expect.stringMatching(/^[0-9a-f]{16}$/) });
    expect([second.callerHash === first.callerHash, second.tenantHash]).toEqual([false, first.tenantHash]);
    expect([third.callerHash, third.tenantHash === first.tenantHash]).toEqual([first.callerHash, false]);
    expect(signed).toMatchObject({ callerHash: expect.any(String) });
    expect(signed).not.toHaveProperty('tenantHash');
    expect(lines.join()).not.toMatch(/acme|user\/ann/);
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
