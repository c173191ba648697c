import { describe, expect, test } from 'vitest';
import { UnavailableError } from '../../../lib/errors.ts';
import { inMemorySessionStore } from '../../../lib/in-memory/session-store.ts';
import { createMemory } from '../../../lib/memory/create-memory.ts';
import type { Message } from '../../../lib/memory/message.ts';
import { memoryUnderTest } from '../../support/memory-under-test.ts';

const message = (id: string, source: unknown = null): Message => ({
  ...{ id, content: id, sender: { id: 'ann' }, timestamp: '2027-01-01T00:00:00.000Z' },
  ...{ source, metadata: {} },
});

describe('a capsule', () => {
  test('names each source once, and only those that are ids', () => {
    const sources = ['doc-1', { id: 'doc-2' }, 'doc-1', null, 7, {}, { id: 8 }, ['doc-3']];
    const window = sources.map((source, index) => message(`m${index}`, source));

    const { sourceIds } = memoryUnderTest().memory.capsuleFromWindow(window, 'x');

    expect(sourceIds).toEqual(['doc-1', 'doc-2']);
  });

  test('of no message is none, also where it would build on another one', async () => {
    const { memory } = memoryUnderTest();
    const first = await memory.storeCapsule(memory.capsuleFromWindow([message('m')], 'first'));

    for (const previous of [undefined, first])
      expect(() => memory.capsuleFromWindow([], 'x', previous)).toThrow(
        expect.objectContaining({ field: 'window' }),
      );
  });

  test.each([
    ['nothing', null],
    ['a text', 'm'],
    ['a single message', message('m')],
    ['a message without its time', [message('a'), { ...message('b'), timestamp: undefined }]],
  ])('of %s is refused', (_what, window) => {
    const { memory } = memoryUnderTest();

    expect(() => memory.capsuleFromWindow(window as never, 'x')).toThrow(
      expect.objectContaining({ code: 'invalid_input', field: 'window' }),
    );
  });

  test('covers the time of the one that it builds on', async () => {
    const { memory } = memoryUnderTest();
    const early = { ...message('a'), timestamp: '2026-01-01T00:00:00.000Z' };
    const first = await memory.storeCapsule(memory.capsuleFromWindow([message('b')], 'first'));

    expect(memory.capsuleFromWindow([early], 'x', first)).toMatchObject({
      ...{ from: early.timestamp, to: first.to, messageCount: 2, previousId: first.id },
    });
  });

  test('without a summary is refused', async () => {
    const { memory } = memoryUnderTest();
    const capsule = memory.capsuleFromWindow([message('m')], undefined);

    await expect(memory.storeCapsule(capsule)).rejects.toMatchObject({ field: 'capsule.summary' });
  });

  test('keeps its horizon, and is another one without it', async () => {
    const { memory } = memoryUnderTest();
    const capsule = { ...memory.capsuleFromWindow([message('m')], 'x'), id: 'k' };

    expect(await memory.storeCapsule({ ...capsule, horizon: 7 })).toMatchObject({ horizon: 7 });
    await expect(memory.storeCapsule(capsule)).rejects.toMatchObject({ code: 'id_conflict', ids: ['k'] });
  });

  test('has a horizon only where one was given, whatever it is stored as', async () => {
    const { memory } = memoryUnderTest();

    for (const summary of ['JSON', new Date(0)])
      expect(await memory.storeCapsule(memory.capsuleFromWindow([message('m')], summary))).not.toHaveProperty(
        'horizon',
      );
  });

  test('that an earlier release stored, without a digest, is the same when it is stored again, and no other one is', async () => {
    const { memory } = memoryUnderTest((store) => ({
      async append(scope, kind, request) {
        const appended = await store.append(scope, kind, request);
        return appended.map((one) =>
          'record' in one ? { ...one, record: { ...one.record, digest: undefined } } : one,
        );
      },
    }));
    const capsule = { ...memory.capsuleFromWindow([message('m')], 'x'), id: 'k' };
    const first = await memory.storeCapsule(capsule);

    expect(await memory.storeCapsule(capsule)).toEqual(first);
    await expect(memory.storeCapsule({ ...capsule, summary: 'y' })).rejects.toMatchObject({
      code: 'id_conflict',
    });
  });

  test('that could not be stored is told why, also where its session is not registered', async () => {
    const append = () => Promise.reject(new UnavailableError('away'));
    const { store } = memoryUnderTest(() => ({ append }));
    const memory = createMemory('support', 's1', undefined, {
      stores: { memory: store, sessions: inMemorySessionStore() },
    });

    await expect(memory.storeCapsule(memory.capsuleFromWindow([message('m')], 'x'))).rejects.toMatchObject({
      code: 'unavailable',
    });
  });

  test('of what was read before something was forgotten is refused; with its time, whatever its messages are', async () => {
    const { memory, store } = memoryUnderTest();
    const since = await store.moment(memory.scope);
    const window = await memory.remember({ id: 'm', content: 'm' });
    await memory.forgetSessionWhere(() => true);
    const capsule = memory.capsuleFromWindow(window, 'x');

    await expect(memory.storeCapsule(capsule, { since })).rejects.toMatchObject({
      code: 'forgotten_meanwhile',
    });
    const now = await store.moment(memory.scope);
    expect(await memory.storeCapsule(capsule, { since: now })).toMatchObject({ messageIds: ['m'] });
  });
});
