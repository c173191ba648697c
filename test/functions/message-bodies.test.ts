import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { HttpHandler } from '../../functions/http/http-handler.ts';
import { useServices } from '../../functions/services.ts';
import { memoryStore } from '../../lib/in-memory/snapshot-store.ts';
import { inMemoryStores } from '../../lib/in-memory/stores.ts';
import { capturedLog } from '../support/captured-log.ts';
import { deepJson } from '../support/deep-json.ts';
import { handlerOf } from '../support/handler-of.ts';
import { httpEvent } from '../support/http-event.ts';

const exportMemory = handlerOf('export-memory');
const forgetMessages = handlerOf('forget-messages');
const recent = handlerOf('recent');
const registerSession = handlerOf('register-session');
const remember = handlerOf('remember');

describe('bodies and parameters of messages', () => {
  let lines: string[];

  beforeEach(async () => {
    lines = capturedLog();
    useServices({
      ...{ agents: new Map(), strictAgents: false, tenantClaim: undefined },
      store: memoryStore(),
      stores: inMemoryStores(),
    });
    await ask(registerSession, 'PUT');
  });
  afterEach(() => {
    vi.restoreAllMocks();
  });

  const ask = async (handler: HttpHandler, method: string, more: Parameters<typeof httpEvent>[0] = {}) => {
    const event = httpEvent({ method, headers: { 'content-type': 'application/json' }, ...more });
    const { statusCode, body } = await handler({
      ...event,
      pathParameters: { agent: 'planner', session: 'chat-of-ann' },
    });
    return { statusCode, text: body ?? '', body: JSON.parse(body ?? '') };
  };
  const messageOf = (content: string) => `{"id":"m1","content":${content},"sender":{"id":"ann"}}`;

  test.each([
    ['ten megabytes', JSON.stringify('x'.repeat(10_000_000))],
    ['quotes that travel as four bytes each', JSON.stringify('"'.repeat(1_700_000))],
  ])(
    'a message that no answer could carry is refused, not stored where it blocks the list: %s',
    async (_, text) => {
      const answer = await ask(remember, 'POST', {
        headers: { 'content-type': 'application/json', 'content-encoding': 'gzip' },
        body: gzipSync(messageOf(text)).toString('base64'),
        base64: true,
      });

      expect([answer.statusCode, answer.body.code]).toEqual([413, 'too_large']);
      expect((await ask(recent, 'GET')).body.items).toEqual([]);
    },
  );

  test.each([
    ['a number that would come back as null', '{"n":1e400}'],
    ['nesting that could not be read back', '['.repeat(20_000) + ']'.repeat(20_000)],
  ])('%s is 400, in a message as in meta', async (_, value) => {
    for (const answer of [
      await ask(remember, 'POST', { body: messageOf(value) }),
      await ask(registerSession, 'PUT', { body: `{"meta":{"a":${value}}}` }),
    ]) {
      expect([answer.statusCode, answer.body.code]).toEqual([400, 'invalid_json']);
    }
    expect((await ask(recent, 'GET')).body.items).toEqual([]);
  });

  test.each(Object.entries(deepJson(2_990)))(
    'what is nested as deep as a body may be is kept and told, by every route that shows it: %s',
    async (_shape, value) => {
      const message = await ask(remember, 'POST', { body: messageOf(value) });
      const again = await ask(remember, 'POST', { body: messageOf(value) });
      const other = await ask(remember, 'POST', { body: messageOf(`[${value}]`) });
      expect([message.statusCode, again.statusCode, other.statusCode]).toEqual([201, 201, 409]);

      const reads = [await ask(recent, 'GET'), await ask(exportMemory, 'GET')];
      for (const { text } of [message, again, ...reads])
        expect(text.includes(`"content":${value},`)).toBe(true);
    },
  );

  test('meta is kept and told as deep as a body may be', async () => {
    const meta = `{"a":${deepJson(2_990)['objects with a number for a name']}}`;

    const { statusCode, text } = await ask(registerSession, 'PUT', { body: `{"meta":${meta}}` });

    expect([statusCode, text.includes(`"meta":${meta},`)]).toEqual([200, true]);
  });

  test('a parameter that is refused is named as the caller knows it', async () => {
    const detail = async (handler: HttpHandler, method: string, query: Record<string, string>) => {
      const { statusCode, body } = await ask(handler, method, { query });
      return [statusCode, body.detail.split(':')[0]];
    };

    expect(await detail(forgetMessages, 'DELETE', { from: 'x', to: '1' })).toEqual([400, 'from']);
    expect(await detail(forgetMessages, 'DELETE', { from: '1', to: 'x' })).toEqual([400, 'to']);
    expect(await detail(recent, 'GET', { since: 'x' })).toEqual([400, 'since']);
    expect(await detail(recent, 'GET', { until: '' })).toEqual([400, 'until']);
  });

  test('a moment before 1970 is found and forgotten by the milliseconds it was sent with', async () => {
    await ask(remember, 'POST', { body: '{"id":"old","content":1,"sender":{"id":"ann"},"timestamp":-5}' });

    expect((await ask(recent, 'GET', { query: { since: '-5', until: '-5' } })).body.items).toHaveLength(1);
    expect((await ask(forgetMessages, 'DELETE', { query: { from: '-5', to: '-5' } })).body.deleted).toBe(1);
  });

  test('the log has enough of a hash to follow a session, and no id of a session or message', async () => {
    const named = { pathParameters: { agent: 'planner', session: 'nowhere-of-bob' } };
    await ask(remember, 'POST', { body: messageOf('1').replace('m1', 'message-of-ann') });
    await ask(remember, 'POST', { body: messageOf('2').replace('m1', 'message-of-ann') });
    expect((await recent({ ...httpEvent(), ...named })).statusCode).toBe(404);

    const log = lines.join();
    expect(log).toMatch(/"sessionHash":"[0-9a-f]{16}"/);
    expect(log).toContain('id_conflict');
    expect(log).toContain('session_not_found');
    for (const id of ['chat-of-ann', 'message-of-ann', 'nowhere-of-bob']) expect(log).not.toContain(id);
  });
});
