import fc from 'fast-check';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { encodeCursor } from '../../../functions/http/paging.ts';
import { runtimeStores } from '../../../functions/runtime-stores.ts';
import { services } from '../../../functions/services.ts';
import { startLocalServer } from '../../../infra/local/server.ts';
import { defineAgent } from '../../../lib/agents/define-agent.ts';
import { createRuntime } from '../../../lib/runtime/create-runtime.ts';
import { capturedLog } from '../../support/captured-log.ts';
import { type RouteAnswer, request } from '../../support/every-route.ts';

const agent = '/v1/agents/support';
const session = `${agent}/sessions/s1`;
const agents = [defineAgent({ name: 'support', actions: { fail: () => Promise.reject(new Error('no')) } })];

/** A list: its path, and what its cursors are bound to. */
interface List {
  readonly path: string;
  readonly bound: readonly string[];
  /** Its places are keys, which may be any text that is one. */
  readonly isByKey?: true;
}

const lists: Record<string, () => List> = {
  instances: () => ({ path: `${agent}/instances`, bound: ['instances', 'support', ''] }),
  sessions: () => ({ path: `${agent}/sessions`, bound: ['sessions', 'support'] }),
  messages: () => ({ path: `${session}/messages`, bound: ['messages', 'support', 's1', '', '', '', ''] }),
  capsules: () => ({ path: `${session}/capsules`, bound: ['capsules', 'support', 's1'] }),
  'user data': () => ({
    path: `${session}/users/ann`,
    bound: ['user-data', 'support', 's1', 'ann'],
    isByKey: true,
  }),
  knowledge: () => ({ path: `${agent}/knowledge`, bound: ['knowledge', 'support'], isByKey: true }),
  errors: () => ({ path: `${agent}/errors`, bound: ['errors', 'support'] }),
  runs: () => ({ path: `${agent}/runs`, bound: ['runs', 'support', ''] }),
  jobs: () => ({ path: `${agent}/runs/${run}/jobs`, bound: ['jobs', 'support', run, 'undefined'] }),
};
let run = '';

describe('cursors', () => {
  let close: () => Promise<void>;

  beforeAll(async () => {
    const server = await startLocalServer({ port: 0, quiet: true, agents });
    close = server.close;
    // The handlers called here work with what this server works with.
    await fetch(`${server.url}/v1/agents`);
    for (const id of ['s1', 's2', 's3']) {
      await request('PUT', `${agent}/instances/${id}`, { body: '{}' });
      await request('PUT', `${agent}/sessions/${id}`);
    }
    const messages = ['a', 'b', 'c'].map((id) => ({ id, content: id, sender: { id: 'u' } }));
    await request('POST', `${session}/messages`, { body: JSON.stringify(messages) });
    for (const place of [`${session}/users/ann`, `${agent}/knowledge`])
      for (const key of ['a', 'b', 'c']) await request('PUT', `${place}/${key}`, { body: '1' });
    const runtime = createRuntime('support', { stores: runtimeStores(services()) });
    const memory = runtime.memory('s1');
    const { items } = await memory.recent();
    for (const message of items)
      await memory.storeCapsule(memory.capsuleFromWindow([message], { summary: 's' }));
    for (const action of ['1', '2'])
      run = (await request('POST', `${agent}/runs`, { body: '{"action":"fail"}' })).body.runId ?? action;
    await vi.waitFor(async () => {
      const { body } = await request('GET', `${agent}/runs`);
      expect(body.items.every(({ status }: { status: string }) => status !== 'running')).toBe(true);
    }, 10_000);
    run = (await request('GET', `${agent}/runs`)).body.items.at(-1).runId;
  });
  afterAll(() => close());
  beforeEach(() => {
    capturedLog();
  });
  afterEach(() => {
    vi.restoreAllMocks();
  });

  const page = (path: string, cursor?: string): Promise<RouteAnswer> =>
    request('GET', path, { query: { limit: '1', ...(cursor !== undefined && { cursor }) } });
  const isRefused = ({ status, body }: RouteAnswer) => status === 400 && body.code === 'invalid_cursor';
  const placeOf = (cursor: string) => Buffer.from(cursor, 'base64url').subarray(12).toString();

  test('of every list lead to the next page of it, and are refused by every other list', async () => {
    const cursors: Record<string, string> = {};
    const firstPages: Record<string, unknown[]> = {};
    for (const [name, list] of Object.entries(lists)) {
      const { body } = await page(list().path);
      expect([name, typeof body.cursor]).toEqual([name, 'string']);
      cursors[name] = body.cursor;
      firstPages[name] = body.items;
      expect(encodeCursor(list().bound, placeOf(body.cursor))).toBe(body.cursor);
    }

    for (const [of, cursor] of Object.entries(cursors))
      for (const [name, list] of Object.entries(lists)) {
        const answer = await page(list().path, cursor);
        expect([of, name, answer.status]).toEqual([of, name, of === name ? 200 : 400]);
        if (of !== name) expect(answer.body.code).toBe('invalid_cursor');
        else
          expect([name, answer.body.items.length, answer.body.items]).not.toEqual([
            name,
            1,
            firstPages[name],
          ]);
      }
  });

  describe.each(Object.entries(lists))('of %s', (_name, listOf) => {
    test('are refused when they are mangled anyhow', async () => {
      const { path } = listOf();
      const { cursor } = (await page(path)).body;
      const mutated = fc.oneof(
        fc.nat({ max: cursor.length - 1 }).map((at) => cursor.slice(0, at)),
        fc
          .tuple(fc.nat({ max: cursor.length }), fc.string({ minLength: 1 }))
          .map(([at, text]) => cursor.slice(0, at) + text + cursor.slice(at)),
        fc
          .tuple(fc.nat({ max: cursor.length - 1 }), fc.constantFrom(...'AZaz09-_=+/ %\u0000é'))
          .map(([at, letter]) => cursor.slice(0, at) + letter + cursor.slice(at + 1)),
        fc.uint8Array({ maxLength: 64 }).map((bytes) => Buffer.from(bytes).toString('base64url')),
        fc.string(),
      );

      await fc.assert(
        fc.asyncProperty(mutated, async (given) => {
          const answer = await page(path, given);
          expect(given === cursor || isRefused(answer)).toBe(true);
        }),
        { numRuns: 15 },
      );
    });

    test('that are forged for places that the list cannot have are refused, and none is ever a failure', async () => {
      const { path, bound, isByKey } = listOf();
      const place = placeOf((await page(path)).body.cursor);
      const impossible = [
        ...[
          '',
          ' ',
          '/',
          '0',
          '0/',
          '-1/s1',
          '99/s1',
          '16/0/0',
          '1e1/s1',
          '0x1/s1',
          '00/s1',
          `${place}\n`,
          `\u0000${place}`,
        ],
        ...[
          `0/${'k'.repeat(2_000)}`,
          `${place}${'9'.repeat(2_000)}`,
          `9999999999/${place}`,
          'null',
          '{}',
          '[]',
          '\ud83d/\u0007',
        ],
      ];
      const isKey = (text: string) => isByKey && text !== '' && text.length <= 512;
      for (const given of impossible.filter((text) => !isKey(text)))
        expect([given, isRefused(await page(path, encodeCursor(bound, given)))]).toEqual([given, true]);

      const digits = fc.integer({ min: -1, max: 1_000_000 }).map(String);
      const near = fc.oneof(
        fc.tuple(digits, fc.string({ unit: 'binary' })).map(([shard, key]) => `${shard}/${key}`),
        fc.tuple(digits, digits, digits).map((parts) => parts.join('/')),
        fc
          .tuple(fc.nat({ max: place.length }), fc.string({ unit: 'binary', maxLength: 5 }))
          .map(([at, text]) => place.slice(0, at) + text + place.slice(at + text.length)),
      );
      await fc.assert(
        fc.asyncProperty(near, async (given) => {
          const answer = await page(path, encodeCursor(bound, given));
          expect([200, 400]).toContain(answer.status);
          if (answer.status === 400) expect(answer.body.code).toBe('invalid_cursor');
        }),
        { numRuns: 15 },
      );
    });
  });
});
