import { expect, test } from 'vitest';
import { createMemory } from '../../../lib/memory/create-memory.ts';
import type { NewMessage } from '../../../lib/memory/message.ts';
import { memoryUnderTest } from '../../support/memory-under-test.ts';

/** The names under which requests reach the store. */
const requestIds = async (...requests: NewMessage[][]) => {
  const seen: (string | undefined)[] = [];
  const { memory } = memoryUnderTest((store) => ({
    append(scope, kind, request) {
      seen.push(request.requestId);
      return store.append(scope, kind, request);
    },
  }));
  for (const messages of requests) {
    await memory.remember(messages);
    await memory.forgetSession();
  }
  return seen;
};
const [a, b] = [
  { id: 'a', content: 1 },
  { id: 'b', content: 2 },
];

test('a request of several messages has one name whenever it is sent, and no other request has it', async () => {
  const other = [
    [b, a],
    [a, { ...b, content: 3 }],
    [a, { ...b, id: 'c' }],
    [a, b, { id: 'c', content: 3 }],
  ];

  const [first, again, ...others] = await requestIds([a, b], [{ ...a }, { ...b }], ...other);

  expect(first).toEqual(expect.any(String));
  expect(again).toBe(first);
  expect(new Set([first, ...others]).size).toBe(1 + other.length);
});

test('a request of one message, or with one that its caller did not name, cannot come again', async () => {
  expect(await requestIds([a], [a, { content: 2 }], [{ content: 1 }, b])).toEqual([
    undefined,
    undefined,
    undefined,
  ]);
});

test.each([null, undefined, 7, { id: '' }])('%o is no session', (session) => {
  const { store } = memoryUnderTest();

  expect(() => createMemory('support', session as never, undefined, { stores: { memory: store } })).toThrow(
    expect.objectContaining({ field: 'session' }),
  );
});
