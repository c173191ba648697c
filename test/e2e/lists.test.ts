import { beforeAll, describe, expect } from 'vitest';
import { routes } from '../../functions/http/operations.ts';
import { httpCase } from './case.ts';
import { deployment } from './deployment.ts';
import { targetFromEnvironment } from './http-client.ts';

interface Page {
  items: { key: string; version: number; bytes: number; updatedAt: string }[];
  cursor?: string;
}

describe('lists, agents and errors', () => {
  const { agent, call, put } = deployment();
  const list = async (query = '', of = agent) => call('GET', `/v1/agents/${of}/instances${query}`);
  const keys = ['s1', 's10', 's1/x', 'S1', ...Array.from({ length: 21 }, (_, index) => `item-${index}`)];

  beforeAll(async () => {
    await Promise.all(keys.map((key) => put(key, JSON.stringify(key))));
  });

  httpCase('instances are listed once each, with what is known of them', async () => {
    const page = (await list()).json() as Page;
    expect(page.items.map(({ key }) => key).sort()).toEqual([...keys].sort());
    expect(page.cursor).toBeUndefined();
    expect(page.items.find(({ key }) => key === 's1/x')).toMatchObject({
      version: 1,
      bytes: 6,
      updatedAt: expect.any(String),
    });
  });

  httpCase('pages add up to the whole, and the last has no cursor', async () => {
    for (const [limit, sizes] of [
      [10, [10, 10, 5]],
      [5, [5, 5, 5, 5, 5]],
      [25, [25]],
      [1000, [25]],
    ] as const) {
      const found: string[] = [];
      const seen: number[] = [];
      let cursor: string | undefined = '';
      while (cursor !== undefined) {
        const page = (await list(`?limit=${limit}${cursor && `&cursor=${cursor}`}`)).json() as Page;
        found.push(...page.items.map(({ key }) => key));
        seen.push(page.items.length);
        cursor = page.cursor;
      }
      expect(seen).toEqual(sizes);
      expect(found.sort()).toEqual([...keys].sort());
    }
  });

  httpCase('a prefix narrows the list, also over pages', async () => {
    const page = (await list('?prefix=s1')).json() as Page;
    expect(page.items.map(({ key }) => key).sort()).toEqual(['s1', 's1/x', 's10']);
    expect((await list('?prefix=s1%2F')).json()).toMatchObject({ items: [{ key: 's1/x' }] });
    expect((await list('?prefix=nobody')).json()).toEqual({ items: [] });
    expect((await list('', `${agent}0`)).json()).toEqual({ items: [] });
  });

  httpCase('a limit out of range, and a cursor that is mangled or of another list, is 400', async () => {
    for (const limit of ['0', '-1', '1001', '1.5', 'ten', '', '10&limit=10', '1e2', '%2B5']) {
      expect([(await list(`?limit=${limit}`)).status, limit]).toEqual([400, limit]);
    }
    const { cursor = '' } = (await list('?limit=5')).json() as Page;
    expect(cursor).not.toBe('');
    const flipped = `${cursor.slice(0, -2)}${cursor.at(-2) === 'A' ? 'B' : 'A'}${cursor.at(-1)}`;
    for (const mangled of [
      flipped,
      cursor.slice(1),
      `${cursor}A`,
      'nonsense',
      '',
      `${cursor}%3D`,
      '%20',
      '{}',
    ]) {
      const refused = await list(`?cursor=${mangled}`);
      expect([refused.status, mangled]).toEqual([400, mangled]);
      expect(refused.json()).toMatchObject({ code: 'invalid_cursor' });
    }
    expect((await list(`?prefix=s1&cursor=${cursor}`)).status).toBe(400);
    expect((await list(`?cursor=${cursor}`, `${agent}0`)).status).toBe(400);
  });

  httpCase('a query parameter that a route does not have is 400 and named, on every route', async () => {
    for (const { method, path, operation } of routes) {
      const target = path.replace('{agent}', agent).replace(/\{\w+\+?\}/g, 's1');
      const refused = await call(method, `${target}?tttl=5`, {
        headers: { 'content-type': 'application/json' },
      });
      expect([operation, refused.status]).toEqual([operation, 400]);
      if (method === 'HEAD') continue;
      expect(refused.json()).toMatchObject({
        code: 'invalid_request',
        detail: expect.stringContaining("'tttl'"),
      });
    }
  });

  httpCase('a misspelled parameter is told the one that was meant, and which there are', async () => {
    const at = `/v1/agents/${agent}/instances`;
    for (const [target, hint] of [
      [`${at}/s1?tttl=5`, "did you mean 'ttl'"],
      [`${at}/s1?TTL=5`, "did you mean 'ttl'"],
      [`${at}?Limit=5`, "did you mean 'limit'"],
      [`${at}?prefx=s`, "did you mean 'prefix'"],
      [`${at}?page=2`, 'prefix, limit, cursor'],
      ['/v1/agents?limit=5', 'takes none'],
    ] as const) {
      const method = target.includes('s1?') ? 'PUT' : 'GET';
      const refused = await call(method, target);
      expect([refused.status, target]).toEqual([400, target]);
      expect((refused.json() as { detail: string }).detail).toContain(hint);
    }
  });

  httpCase('a parameter without a name is 400', async () => {
    const refused = await list('?=2');
    expect(refused.status).toBe(400);
    expect((refused.json() as { detail: string }).detail).toContain('prefix, limit, cursor');
  });

  httpCase(
    'a parameter that is given twice is 400; one that signs the URL is none of the route',
    async () => {
      for (const query of [
        '?prefix=s1&prefix=s10',
        '?prefix=a&prefix=a',
        '?limit=1&prefix=a&limit=1',
        '?prefix&prefix',
      ]) {
        const refused = await list(query);
        expect([refused.status, query]).toEqual([400, query]);
        expect(refused.json()).toMatchObject({ detail: expect.stringContaining('twice') });
      }
      expect((await list('?prefix=a,b')).status).toBe(200);
      // A gateway that judges signatures would want the whole of one.
      if (!targetFromEnvironment()?.signed) expect((await list('?X-Amz-Expires=60')).status).toBe(200);
    },
  );

  httpCase('the agents of the deployment are listed with their policies and actions', async () => {
    const answer = await call('GET', '/v1/agents');
    expect(answer.status).toBe(200);
    const { items } = answer.json() as { items: { name: string; actions: string[]; retention: object }[] };
    expect(items.length).toBeGreaterThan(0);
    for (const item of items) {
      expect(item.actions).toContain('prune-raw-memory');
      // The policy that holds, also where it is the default one.
      expect(item.retention).toMatchObject({ name: expect.any(String), rawRetentionSecs: expect.anything() });
    }
  });

  httpCase('the API describes itself as OpenAPI 3.1', async () => {
    const answer = await call('GET', '/v1/openapi.json');
    expect(answer.status).toBe(200);
    const document = answer.json() as { openapi: string; paths: Record<string, object> };
    expect(document.openapi).toMatch(/^3\.1\./);
    expect(Object.keys(document.paths)).toContain('/v1/agents/{agent}/instances/{key}');
  });

  httpCase('OPTIONS is a method like another one: 405 with Allow', async () => {
    const refused = await call('OPTIONS', '/v1/agents');
    expect([refused.status, refused.headers.allow]).toEqual([405, 'GET']);
  });

  httpCase(
    'another method of a known path is 405 with Allow, an unknown path 404, both as problems',
    async () => {
      const wrong = await call('PATCH', `/v1/agents/${agent}/instances/s1`, { body: '{}' });
      expect(wrong.status).toBe(405);
      expect(wrong.headers.allow?.split(', ').sort()).toEqual(['DELETE', 'GET', 'HEAD', 'PUT']);
      expect(wrong.json()).toMatchObject({ code: 'method_not_allowed' });
      expect((await call('POST', '/v1/agents', { body: '{}' })).headers.allow).toBe('GET');
      for (const method of ['HEAD', 'TRACE', 'PATCH', 'PUT', 'QUERY']) {
        const refused = await call(method, '/v1/agents');
        expect([method, refused.status, refused.headers.allow]).toEqual([method, 405, 'GET']);
      }

      for (const path of [
        '/',
        '/v1',
        '/v2/agents',
        '/v1/agents/',
        '/v1/agent',
        '/v1/agents/x/y',
        '/v1/openapi_json',
      ]) {
        const unknown = await call('GET', path);
        expect([unknown.status, path]).toEqual([404, path]);
        expect(unknown.headers['content-type']).toBe('application/problem+json');
        expect(unknown.json()).toMatchObject({ code: 'not_found' });
      }
    },
  );

  httpCase('whatever a browser makes of an answer, it runs nothing of it and embeds it nowhere', async () => {
    const page = '<script>document.title = 1</script>';
    await put('page', page, { 'content-type': 'text/html' });
    for (const answer of [
      await call('GET', `/v1/agents/${agent}/instances/page`),
      await call('HEAD', `/v1/agents/${agent}/instances/page`),
      await call('GET', `/v1/agents/${agent}/instances/nobody`),
      await call('GET', '/v1/agents'),
      await call('GET', '/nowhere'),
    ]) {
      expect(answer.headers).toMatchObject({
        'content-security-policy': "default-src 'none'; frame-ancestors 'none'; sandbox",
        'cross-origin-resource-policy': 'same-origin',
        'referrer-policy': 'no-referrer',
        'x-content-type-options': 'nosniff',
        'cache-control': expect.stringMatching(/no-store|no-cache/),
      });
    }
  });

  httpCase('every problem has a type, title, status, detail, code and request id', async () => {
    const refused = await call('GET', `/v1/agents/${agent}/instances/nobody`);
    expect(refused.json()).toEqual({
      type: 'urn:dormouse:problem:not_found',
      title: expect.any(String),
      status: 404,
      detail: expect.any(String),
      code: 'not_found',
      requestId: expect.stringMatching(/.+/),
    });
  });
});
