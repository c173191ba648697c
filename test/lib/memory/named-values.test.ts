import { expect, test } from 'vitest';
import type { ValueScope } from '../../../lib/memory/memory-store.ts';
import { unpackValue } from '../../../lib/memory/message-codec.ts';
import { namedValues } from '../../../lib/memory/named-values.ts';
import { KEEP_EVERYTHING } from '../../../lib/memory/retention.ts';
import { memoryUnderTest } from '../../support/memory-under-test.ts';

const scope: ValueScope = { kind: 'user', agent: 'support', session: 's1', identity: 'ann' };

test('a value is read by its key, also one that is false; undefined is what was not set', async () => {
  const { store } = memoryUnderTest();
  const values = namedValues(store, scope, { policy: KEEP_EVERYTHING });
  await values.set('b', false);
  await values.set('a', { deep: [1] });

  expect(await values.get('a')).toEqual({ deep: [1] });
  expect(await values.get('b')).toBe(false);
  expect(await values.get('c')).toBeUndefined();
  const { items } = await values.list({ limit: 2 });
  expect(await Promise.all(items.map(async ({ key, dump }) => [key, await unpackValue(dump)]))).toEqual([
    ['a', { deep: [1] }],
    ['b', false],
  ]);
});

test('a value that may not be set is not', async () => {
  const { store } = memoryUnderTest();
  const admit = () => Promise.reject(new Error('not registered'));
  const values = namedValues(store, scope, { policy: KEEP_EVERYTHING, admit });

  await expect(values.set('a', 1)).rejects.toThrow('not registered');

  expect(await values.list({ limit: 1 })).toEqual({ items: [] });
});
