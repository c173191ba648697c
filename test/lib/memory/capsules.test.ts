import { describe, expect, test } from 'vitest';
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
