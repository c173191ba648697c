import { createCipheriv } from 'node:crypto';
import { expect, test } from 'vitest';
import { rememberMaxMessages, snapshotMaxBytes, valueMaxBytes } from '../../../lib/defaults.ts';
import { createMemory } from '../../../lib/memory/create-memory.ts';
import type { NewMessage } from '../../../lib/memory/message.ts';
import { packValue } from '../../../lib/memory/message-codec.ts';
import { memoryUnderTest } from '../../support/memory-under-test.ts';
import { randomBytesOf } from '../../support/random-bytes.ts';

test.each([
  ['another version', { v: 2, content: 'x' }],
  ['no object', 'x'],
  ['nothing', null],
  ['a list', [1]],
])('a record that holds %s is corrupt', async (_what, stored) => {
  const { memory, store } = memoryUnderTest();
  const record = { id: 'm', at: 0, digest: new Uint8Array(32), dump: await packValue(stored, 'value') };
  for (const kind of ['message', 'capsule'] as const)
    await store.append(memory.scope, kind, {
      ...{ records: [record], receivedAt: 0, retentionSecs: undefined, requestId: undefined },
    });

  await expect(memory.recent()).rejects.toMatchObject({ code: 'corrupt' });
  await expect(memory.getCapsule('m')).rejects.toMatchObject({ code: 'corrupt' });
});

test.each<[string, unknown]>([
  ['messages[0]', null],
  ['messages[0]', 'hello'],
  ['messages[0]', ['hello']],
  ['messages[0].sender', { content: 'x', sender: 'ann' }],
  ['messages[0].sender', { content: 'x', sender: ['ann'] }],
  ['messages[0].sender', { content: 'x', sender: [] }],
  ['messages[0].sender.id', { content: 'x', sender: {} }],
  ['messages[0].sender.name', { content: 'x', sender: { id: 'ann', name: null } }],
  ['messages[0].metadata', { content: 'x', metadata: [] }],
  ['messages[0].metadata', { content: 'x', metadata: null }],
  ['messages[0].metadata', { content: 'x', metadata: new Map([['a', 1]]) }],
  ['messages[0].metadata', { content: 'x', metadata: new Date(0) }],
  ['messages[0].metadata', { content: 'x', metadata: new Proxy({}, {}) }],
  ['messages[0].content.deep[1]', { content: { deep: [1, () => 1] } }],
])('a bad %s is refused by name: %j', async (field, bad) => {
  const { memory } = memoryUnderTest();

  await expect(memory.remember(bad as NewMessage)).rejects.toMatchObject({ code: 'invalid_input', field });
});

test('a message without a sender is refused where the memory has no identity', async () => {
  const { store } = memoryUnderTest();
  const memory = createMemory('support', 's1', undefined, { stores: { memory: store } });

  await expect(memory.remember({ content: 'x' })).rejects.toMatchObject({
    ...{ field: 'messages[0].sender', message: expect.stringContaining('has no identity') },
  });
  expect(await memory.remember({ content: 'x', sender: { id: 'bob', name: 'Bob' } })).toMatchObject([
    { sender: { id: 'bob', name: 'Bob' } },
  ]);
});

test('a sender has a name only where one was given, whatever the message is stored as', async () => {
  const { memory } = memoryUnderTest();

  for (const content of ['JSON', new Date(0)])
    expect((await memory.remember({ content }))[0]?.sender).toStrictEqual({ id: 'ann' });
  expect(memory.identity).toStrictEqual({ id: 'ann' });
});

test('what is packed may not be larger than a snapshot may', async () => {
  const noise = createCipheriv('aes-128-ctr', Buffer.alloc(16), Buffer.alloc(16));
  const incompressible = noise.update(new Uint8Array(snapshotMaxBytes + 1));

  // A dump of that size is nothing for the report of a test that fails.
  const outcome = await packValue(incompressible, 'value').then(
    () => 'packed',
    (error) => error.code,
  );
  expect(outcome).toBe('too_large');
});

test('a call holds no more messages than it may', async () => {
  const { memory } = memoryUnderTest();
  const messages = Array.from({ length: rememberMaxMessages + 1 }, (_, index) => ({ content: index }));

  await expect(memory.remember(messages)).rejects.toMatchObject({ field: 'messages' });
  expect(await memory.remember(messages.slice(1))).toHaveLength(rememberMaxMessages);
});

test('a value may be as large as it may, and must be something', async () => {
  const { memory } = memoryUnderTest();
  const packedSize = async (bytes: number) =>
    (await packValue(randomBytesOf(bytes, 'v'), 'value')).data.length;
  const fits = valueMaxBytes - ((await packedSize(valueMaxBytes)) - valueMaxBytes);
  expect(await packedSize(fits)).toBe(valueMaxBytes);

  await memory.learn('fits', randomBytesOf(fits, 'v'));
  await expect(memory.learn('too large', randomBytesOf(fits + 1, 'v'))).rejects.toMatchObject({
    code: 'too_large',
  });
  await expect(memory.learn('nothing', undefined)).rejects.toMatchObject({ field: 'value' });
  expect(Object.keys(await memory.getKnowledge())).toEqual(['fits']);
});
