import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createRuntime, DEFAULT_RETENTION, inMemoryStores, type NewCapsule } from '../../../lib/index.ts';
import { testClock } from '../../support/test-clock.ts';

const at = '2027-01-01T00:00:00.000Z';
const all = { from: '0001-01-01T00:00:00Z', to: '9999-12-31T00:00:00Z' };

async function sessionWithMessage(source: unknown = 'doc') {
  const clock = testClock(at).now;
  const policy = { ...DEFAULT_RETENTION, rawRetentionSecs: null };
  const runtime = createRuntime('support', { stores: inMemoryStores(), policy, clock });
  await runtime.registerSession('chat');
  const memory = runtime.memory('chat', { id: 'ann' });
  const window = await memory.remember({ id: 'm', content: 'secret', source });
  return { memory, capsule: memory.capsuleFromWindow(window, 'summary') };
}

describe('a capsule that was put together by hand', () => {
  const fields = [
    ...(['from', 'to', 'messageCount', 'messageIds', 'sourceIds', 'previousId'] as const),
    ...(['metadata', 'horizon', 'id', 'summary'] as const),
  ];
  const odd = fc.oneof(
    fc.anything(),
    fc.constantFrom(
      'doc',
      'yesterday',
      '2027-01-01',
      '2027-01-01T02:00:00+02:00',
      5,
      -1,
      Number.NaN,
      [],
      ['m'],
    ),
    fc.array(fc.anything()),
    fc.array(fc.string({ unit: 'binary' })),
  );

  test('is refused by its field, or goes with what it holds', async () => {
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...fields), odd, fc.boolean(), async (field, value, bySource) => {
        const { memory, capsule } = await sessionWithMessage();
        try {
          await memory.storeCapsule({ ...capsule, [field]: value } as NewCapsule);
        } catch (error) {
          expect(error).toMatchObject({ code: 'invalid_input' });
          expect(String(error)).toContain(`capsule.${field}`);
          return;
        }
        // One that names no source is no longer one of its sources.
        if (bySource && field !== 'sourceIds') await memory.forgetBySourceId('doc');
        else await memory.forgetMessages(all, { capsules: 'forget' });

        expect((await memory.listCapsules()).items).toEqual([]);
      }),
    );
  });

  test.each<[string, string, unknown]>([
    ['a text for a list', 'messageIds', 'abc'],
    ['no sources', 'sourceIds', undefined],
    ['a list with a hole', 'messageIds[0]', new Array(1)],
    ['a source that is no text', 'sourceIds[1]', ['doc', 7]],
    ['a source that is empty', 'sourceIds[1]', ['doc', '']],
    ['a time that is none', 'from', 'yesterday'],
    ['times that run backwards', 'from', '2027-01-01T00:00:01Z'],
    ['a count that is none', 'messageCount', Number.NaN],
    ['half a message', 'messageCount', 0.5],
    ['less than no messages', 'messageCount', -1],
    ['a horizon that is none', 'horizon', '7'],
    ['a horizon before all', 'horizon', -1],
    ['metadata that is none', 'metadata', null],
    ['a list of metadata', 'metadata', []],
    ['metadata that is a Map', 'metadata', new Map()],
  ])('is refused with %s, and nothing of it is stored', async (_name, field, wrong) => {
    const { memory, capsule } = await sessionWithMessage();
    const bad = { ...capsule, [field.replace(/\[.*/, '')]: wrong };

    await expect(memory.storeCapsule(bad)).rejects.toMatchObject({
      ...{ code: 'invalid_input', field: `capsule.${field}` },
    });
    expect((await memory.listCapsules()).items).toEqual([]);
    expect(await memory.forgetBySourceId('doc')).toBe(1);
  });

  test.each([null, 'summary', [{ summary: 'x' }]])('%j is none', async (given) => {
    const { memory } = await sessionWithMessage();

    await expect(memory.storeCapsule(given as never)).rejects.toMatchObject({
      ...{ code: 'invalid_input', field: 'capsule' },
    });
  });

  test('may count no messages, and be of before anything arrived', async () => {
    const { memory, capsule } = await sessionWithMessage();
    const none = { messageCount: 0, horizon: 0, messageIds: [] };

    expect(await memory.storeCapsule({ ...capsule, ...none })).toMatchObject(none);
  });

  test('keeps its times in UTC, by which it is found', async () => {
    const { memory, capsule } = await sessionWithMessage();

    const stored = await memory.storeCapsule({ ...capsule, from: '2026-12-31T23:30:00-00:30' });

    expect(stored.from).toBe(at);
  });
});

test('a message can be forgotten by any source that it can have', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.oneof(
        fc.string({ unit: 'binary', minLength: 1 }),
        fc.constant(`https://example.com/?q=${'x'.repeat(2000)}`),
      ),
      fc.boolean(),
      async (id, isObject) => {
        const { memory, capsule } = await sessionWithMessage(isObject ? { id } : id);
        await memory.storeCapsule(capsule);

        expect(await memory.forgetBySourceId(id)).toBe(2);
        expect((await memory.exportMemory()).capsules).toEqual([]);
      },
    ),
  );
});

test.each([7, '', null])('nothing is forgotten by a source of %j', async (source) => {
  const { memory } = await sessionWithMessage();

  await expect(memory.forgetBySourceId(source as never)).rejects.toMatchObject({
    ...{ code: 'invalid_input', field: 'sourceId' },
  });
});

test.each<[string, unknown, unknown]>([
  ['no selection', null, undefined],
  ['a text for a selection', 'where', undefined],
  ['a predicate that is none', { where: 'all' }, undefined],
  ['a predicate that is missing', { where: undefined, ...all }, undefined],
  ['a word that stands for nothing', all, { capsules: 'forgte' }],
])('a forget with %s is refused, and forgets nothing', async (_name, selection, options) => {
  const { memory } = await sessionWithMessage();

  await expect(memory.forgetMessages(selection as never, options as never)).rejects.toMatchObject({
    code: 'invalid_input',
  });
  expect((await memory.recent()).items).toHaveLength(1);
});

test('a list of messages with a hole is refused by its place, and nothing of it is stored', async () => {
  const { memory } = await sessionWithMessage();
  const list = [{ content: 1 }];
  list[2] = { content: 2 };

  await expect(memory.remember(list)).rejects.toMatchObject({
    code: 'invalid_input',
    message: expect.stringContaining('messages[1]'),
  });
  expect((await memory.recent()).items).toHaveLength(1);
});
