import { gzipSync } from 'node:zlib';
import { beforeEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { useServices } from '../../functions/services.ts';
import { defineAgent, indexAgents } from '../../lib/agents/define-agent.ts';
import { memoryStore } from '../../lib/in-memory/snapshot-store.ts';
import { hibernate as hibernateState } from '../../lib/persistence/hibernate.ts';
import type { SnapshotCatalog, SnapshotInfo } from '../../lib/persistence/snapshot-store.ts';
import { capturedLog } from '../support/captured-log.ts';
import { handlerOf } from '../support/handler-of.ts';
import { httpEvent } from '../support/http-event.ts';

const hibernate = handlerOf('hibernate');
const thaw = handlerOf('thaw');

const richType = 'application/vnd.dormouse.rich+json';
const jsonType = 'application/json';

// biome-ignore lint/suspicious/noExplicitAny: as in the README
type Any = any;
const agents = [
  defineAgent({
    name: 'readme',
    dump: (agent: Any) => ({ ...agent, cache: undefined, version: 2 }),
    load: (data: Any) => (data.version === 2 ? data : { ...data, version: 2, notes: [] }),
  }),
  defineAgent({
    name: 'sharing',
    dump: ({ tool }: Any) => ({ tool, tools: [tool, tool] }),
    load: (data: Any) => ({ ...data, again: data.tool }),
  }),
  defineAgent({ name: 'checked', state: z.object({}).loose() }),
  defineAgent({ name: 'dated', load: (data: Any) => ({ ...data, at: new Date(0) }) }),
];

let store: SnapshotCatalog;

beforeEach(() => {
  capturedLog();
  store = memoryStore();
  useServices({ agents: indexAgents(agents), strictAgents: false, tenantClaim: undefined, store });
});

interface Sent {
  readonly type?: string;
  readonly headers?: Record<string, string>;
  readonly gzip?: boolean;
  /** Only for agents whose callbacks read the state. */
  readonly readers?: boolean;
}

const put = async (
  agent: string,
  body: string,
  { type = jsonType, headers = {}, gzip = false }: Sent = {},
) => {
  const content = gzip ? gzipSync(body).toString('base64') : body;
  const encoding = gzip ? { 'content-encoding': 'gzip' } : {};
  return hibernate(
    httpEvent({
      ...{ method: 'PUT', agent, key: 'k', body: content, base64: gzip },
      headers: { 'content-type': type, ...encoding, ...headers },
    }),
  );
};
const get = async (agent: string, headers: Record<string, string> = {}, method = 'GET') =>
  thaw(httpEvent({ method, agent, key: 'k', headers }));
const problemOf = ({ statusCode, body }: { statusCode?: number | undefined; body?: string | undefined }) => {
  const { code, detail, limit } = JSON.parse(body ?? '');
  return { status: statusCode, code, detail, limit };
};

describe('plain JSON', () => {
  test('stays plain JSON under the callbacks of the README', async () => {
    await put('readme', '{"mood":"calm"}');

    expect(await get('readme')).toMatchObject({
      headers: { 'content-type': jsonType },
      body: '{"mood":"calm","version":2}',
    });
  });

  test.each(['1e400', '[-1e400]', '{"n":[0,1e999]}'])(
    'with a number that JavaScript does not have is refused where callbacks read it, and kept as it is elsewhere: %s',
    async (body) => {
      for (const agent of ['readme', 'checked'])
        expect(problemOf(await put(agent, body))).toMatchObject({ status: 400, code: 'invalid_json' });

      expect((await put('planner', body)).statusCode).toBe(201);
      expect((await get('planner')).body).toBe(body);
    },
  );

  test('stays plain JSON where a callback returns one object twice', async () => {
    await put('sharing', '{"tool":{"name":"search"}}');

    expect(await get('sharing', { accept: jsonType })).toMatchObject({
      headers: { 'content-type': jsonType },
      body: '{"tool":{"name":"search"},"tools":[{"name":"search"},{"name":"search"}],"again":{"name":"search"}}',
    });
  });

  test('is not what a state that is undefined is', async () => {
    for (const agent of ['planner', 'checked']) {
      expect(problemOf(await put(agent, '-1', { type: richType }))).toMatchObject({
        status: 422,
        code: 'invalid_state',
      });
    }
  });
});

describe('a state that JSON cannot carry', () => {
  beforeEach(async () => {
    await hibernateState({ store }, 'planner', 'k', { at: new Date(0) });
    await hibernateState({ store }, 'dated', 'k', { mood: 'calm' });
  });

  test.each([
    [undefined, 200],
    ['', 200],
    ['*/*', 200],
    ['application/*', 200],
    ['application/json, */*;q=0.1', 200],
    [richType, 200],
    [`application/json, ${richType};q=0.5`, 200],
    ['application/json', 406],
    ['application/json;q=0.9, text/html', 406],
    [`${richType};q=0, */*`, 406],
    ['text/*', 406],
  ])('is sent to who takes its type, never passed off as JSON: Accept: %s', async (accept, status) => {
    for (const agent of ['planner', 'dated']) {
      const answer = await get(agent, accept === undefined ? {} : { accept });

      expect(answer.statusCode).toBe(status);
      if (status === 200) expect(answer.headers).toMatchObject({ 'content-type': richType });
      else
        expect(problemOf(answer)).toMatchObject({
          code: 'not_acceptable',
          detail: expect.stringContaining(richType),
        });
    }
    expect((await get('planner', accept === undefined ? {} : { accept }, 'HEAD')).statusCode).toBe(status);
  });

  test('is not acceptable whatever the conditions say', async () => {
    const etag = (await get('planner')).headers?.etag as string;
    const asked = { accept: jsonType, 'if-none-match': etag, 'if-match': '"another"' };

    expect((await get('planner', asked)).statusCode).toBe(406);
    expect((await get('planner', { 'if-none-match': etag })).statusCode).toBe(304);
  });

  test('does not keep JSON, or opaque bytes, from anybody', async () => {
    await put('planner', '{}');
    expect((await get('planner', { accept: 'text/html' })).statusCode).toBe(200);
    await put('planner', 'x', { type: 'text/plain' });
    expect((await get('planner', { accept: jsonType })).statusCode).toBe(200);
  });
});

test('stored bytes that were altered are never sent, compressed as they are or not', async () => {
  await put('planner', JSON.stringify('calm '.repeat(1_000)));
  const altered: SnapshotCatalog = {
    ...store,
    get: async (key: string) => {
      const stored = await store.get(key);
      if (stored === undefined) return undefined;
      const data = Uint8Array.from(stored.dump.data);
      data[20] = (data[20] ?? 0) ^ 1;
      return { ...stored, dump: { ...stored.dump, data } };
    },
  };
  expect((await store.get('planner/k'))?.encoding).toBe('gzip');
  useServices({ agents: indexAgents([]), strictAgents: false, tenantClaim: undefined, store: altered });

  for (const headers of [{ 'accept-encoding': 'gzip' }, {}] as Record<string, string>[]) {
    expect(problemOf(await get('planner', headers))).toMatchObject({ status: 500, code: 'corrupt' });
  }
});

describe('a GET with a condition', () => {
  test('asks the store once, which need not read the data', async () => {
    await put('planner', '{}');
    const etag = (await get('planner')).headers?.etag as string;
    const asked: string[] = [];
    const counted: SnapshotCatalog = {
      ...store,
      head: (key) => {
        asked.push('head');
        return store.head(key);
      },
      get: async (key: string, isWanted?: (info: SnapshotInfo) => boolean) => {
        const stored = await store.get(key);
        asked.push(`get: ${stored && isWanted?.(stored)}`);
        return stored;
      },
    };
    useServices({ agents: indexAgents([]), strictAgents: false, tenantClaim: undefined, store: counted });

    const statuses = [];
    for (const headers of [{ 'if-none-match': etag }, { 'if-match': '"x"' }, { 'if-match': etag }, {}])
      statuses.push((await get('planner', headers as Record<string, string>)).statusCode);

    expect(statuses).toEqual([304, 412, 200, 200]);
    expect(asked).toEqual(['get: false', 'get: false', 'get: true', 'get: true']);
  });
});

describe('JSON that is none', () => {
  test.each([
    ['{"a":}', 5],
    ['{"a":NaN}', 5],
    ['{"a":tru}', 8],
    ['[1,2,x,3]', 5],
    ['{"a":1,}', 7],
    ['[1,]', 3],
    ['{"a" 1}', 5],
    ["{'a':1}", 1],
    ['{"a":1}x', 7],
    ['{"a":"\n"}', 6],
    ['{"a":"\\x"}', 7],
    ['{"a":"\\u12g4"}', 10],
    ['[01]', 2],
    ['[-]', 2],
    ['[1.]', 3],
    ['[1e]', 3],
    ['[+1]', 1],
    ['{"a":1]', 6],
    ['nul', 'end'],
    ['{"a":', 'end'],
    ['[1,2', 'end'],
    ['"abc', 'end'],
    ['{"a', 'end'],
    ['{', 'end'],
    ['-', 'end'],
    ['', 'end'],
    [' ', 'end'],
    ['\n\n{"a":1\n  "b":2}', 11],
  ])('is refused with the place of its fault: %j', async (body, place) => {
    const { status, code, detail } = problemOf(await put('planner', body));

    expect([status, code]).toEqual([400, 'invalid_json']);
    expect(detail).toContain(place === 'end' ? 'at its end' : `at position ${place} `);
  });

  test('that begins with a byte order mark is told so, and the text is never quoted', async () => {
    expect(problemOf(await put('planner', '\ufeff{"a":1}')).detail).toContain('byte order mark');
    expect(problemOf(await put('planner', '{"secret":secret}')).detail).not.toContain('secret');
    expect(problemOf(await put('planner', '\n{"a":\n  x}')).detail).toContain('(line 3, column 3)');
  });
});

describe('a text body', () => {
  test.each([undefined, 'content-length'])(
    'with replacement characters is kept exactly, %s',
    async (name) => {
      for (const type of [jsonType, 'text/plain; charset=utf-8']) {
        const body = '"\ufffd\ufffd ok \u00e9"';
        const headers = name === undefined ? {} : { [name]: String(Buffer.byteLength(body)) };

        expect((await put('planner', body, { type, headers })).statusCode).toBeLessThan(300);

        const read = await get('planner');
        expect(read.isBase64Encoded ? Buffer.from(read.body ?? '', 'base64').toString() : read.body).toBe(
          body,
        );
      }
    },
  );
});

describe('a few bytes that stand for more than a function holds', () => {
  const many = (item: string, times: number) => `[${Array(times).fill(item).join(',')}]`;
  const deep = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`;
  test.each<[string, string, number, Sent?]>([
    ['eight million objects', many('{}', 8_000_000), 413, { gzip: true }],
    ['half a million and one numbers', many('0', 500_001), 413],
    ['sixteen million brackets', deep(16_000_000), 400, { gzip: true }],
    ['brackets that are never closed', '['.repeat(5_000_000), 400],
    ['objects that are never closed', '{"a":'.repeat(100_000), 400],
    ['a string that a callback would spread', `"${'x'.repeat(3_000_000)}"`, 413, { readers: true }],
    ['10,001 levels', deep(10_001), 400],
    ['33 MiB', `"${'x'.repeat(33 * 1024 * 1024)}"`, 413, { gzip: true }],
    ['36 bytes of a long array', '[{"list":1},[-7,4294967295,5,2],"x"]', 400, { type: richType }],
    [
      'references that double',
      `[${Array.from({ length: 60 }, (_, at) => `[${at + 1},${at + 1}]`)},"x"]`,
      400,
      { type: richType },
    ],
    ['levels in a rich text', deep(3), 400, { type: richType }],
    ['a rich text of many values', many('0', 500_001), 413, { type: richType }],
  ])('is refused before it is parsed: %s', async (_, body, status, sent = {}) => {
    for (const agent of ['readme', 'checked', ...(sent.readers ? [] : ['planner'])]) {
      const start = performance.now();
      const answer = await put(agent, body, sent);

      expect(problemOf(answer)).toMatchObject({
        status,
        detail: expect.stringMatching(/\d{4}|malformed/),
        ...(status === 413 && { limit: expect.any(Number) }),
      });
      expect(performance.now() - start).toBeLessThan(5_000);
    }
    expect((await get('planner')).statusCode).toBe(404);
  });

  test('is told from what may be large: strings full of brackets and commas, half a million values, 10,000 levels', async () => {
    const strings = JSON.stringify({ text: '[[{,"\\'.repeat(100_000) });
    for (const body of [strings, many('0', 499_999), deep(10_000)]) {
      expect((await put('planner', body)).statusCode).toBe(200 + (body === strings ? 1 : 0));
      expect((await get('planner')).body).toBe(body);
    }
  });

  test('is less where a callback has to write it again', async () => {
    const objects = (levels: number) => `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`;

    expect((await put('readme', objects(2_900))).statusCode).toBe(201);
    expect((await get('readme')).statusCode).toBe(200);
    expect(problemOf(await put('readme', objects(3_001)))).toMatchObject({
      status: 400,
      code: 'invalid_json',
    });
  });
});
